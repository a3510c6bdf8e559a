// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/user_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/units.h"
#include "analyzer/base/text/utf8.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::run {

namespace {

// A backward pass that runs Python (checkpointing's recomputation) has frames of its own; else the
// line of the forward pass that it works for says most.
struct place_frames {
  const code::source_frame* telling = nullptr;
  const code::source_frame* user = nullptr;  // where that is another one
  bool of_forward = false;
};

[[nodiscard]] place_frames frames_that_tell(const call_site& site) {
  place_frames found;
  const auto frames = std::span(site.frames).subspan(site.keeps_from);
  found.telling = code::telling_frame(frames);
  found.user = code::innermost_user(frames);
  if (found.telling == nullptr) {
    found.telling = code::telling_frame(site.forward);
    found.of_forward = true;
  }
  if (found.user == nullptr) found.user = code::innermost_user(site.forward);
  if (found.user == found.telling) found.user = nullptr;
  return found;
}

[[nodiscard]] std::string describe(const call_site& site, const place_frames& found,
                                   const std::map<std::string_view, unsigned>& parts) {
  if (site.sites > 1) return fmt::format("{} smaller call sites", site.sites);
  if (found.telling != nullptr && !found.of_forward) {
    return code::place_of(*found.telling, parts.at(found.telling->file));
  }
  if (site.forward.empty() && site.node.empty()) {
    return code::place_without_user(site.frames, site.thread);
  }
  std::string place = "backward pass";
  if (found.telling != nullptr) {
    place = "backward of " + code::place_of(*found.telling, parts.at(found.telling->file));
  } else if (!site.forward.empty()) {
    place = "backward of " + code::place_without_user(site.forward, {});
  }
  const bool by_node = !site.node.empty() && site.frames.empty();
  return by_node ? fmt::format("{} ({})", place, text::printable(site.node)) : place;
}

[[nodiscard]] bool is_compilers(std::string_view file) {
  return file.find("/torch/_inductor/") != file.npos;
}

// The other lines of its kernel: two, and how many more.
[[nodiscard]] std::string with_others(const call_site& site) {
  constexpr std::size_t most = 2;
  std::string others;
  for (std::size_t i = 0; i < std::min(most, site.fused_with.size()); ++i) {
    others += (i == 0 ? "" : ", ") + code::place_of(site.fused_with[i], 1);
  }
  const auto rest = site.fused_with.size() - std::min(most, site.fused_with.size());
  return rest == 0 ? others : fmt::format("{} and {} more", others, rest);
}

// The innermost of Python's frames; of machine code, which goes on into the allocator itself, the
// function that the line calls.
[[nodiscard]] const code::source_frame& called_from(const call_site& site,
                                                    const place_frames& found) {
  const auto& innermost = site.frames.front();
  return innermost.line != 0 || found.of_forward ? innermost : *std::prev(found.telling);
}

struct group {
  user_line line;
  std::uint64_t most_bytes = 0;  // of the call site that gave `via` and `from`
};

[[nodiscard]] std::string line_of(const code::source_frame& frame) {
  if (frame.line == 0) return code::place_of(frame, 1);  // machine code, of which no line is known
  return fmt::format("{}:{}", text::file_name(frame.file), frame.line);
}

}  // namespace

std::string place_of_user(const std::vector<code::source_frame>& frames,
                          const std::vector<code::source_frame>& forward) {
  if (const auto* const own = code::innermost_user(frames)) return line_of(*own);
  if (const auto* const made_for = code::innermost_user(forward))
    return "backward of " + line_of(*made_for);
  const auto* const any = code::telling_frame(frames);
  return any == nullptr ? std::string() : line_of(*any);
}

std::string at_line(const std::vector<code::source_frame>& frames,
                    const std::vector<code::source_frame>& forward) {
  const auto place = place_of_user(frames, forward);
  if (place.empty()) return place;
  return (place.starts_with("backward") ? " in the " : " at ") + place;
}

std::vector<user_line> fold_to_user_lines(const std::vector<call_site>& sites) {
  std::set<std::string_view> files;
  for (const auto& site : sites) {
    if (const auto* const telling = frames_that_tell(site).telling) files.insert(telling->file);
  }
  const auto parts = code::needed_parts(files);
  std::map<std::pair<std::string, attribution::category>, group> groups;
  for (const auto& site : sites) {
    const auto found = frames_that_tell(site);
    const auto where = describe(site, found, parts);
    auto& folded = groups[{where, site.what}];
    folded.line.where = where;
    folded.line.what = site.what;
    folded.line.bytes += site.bytes;
    folded.line.blocks += site.blocks;
    folded.line.recomputed += site.recomputed;
    folded.line.attention_scores += site.attention_scores;
    if (found.telling == nullptr || site.bytes <= folded.most_bytes) continue;
    folded.most_bytes = site.bytes;
    // A compiled backward pass runs PyTorch's code only, which is no part of the program's line.
    const bool deeper = !site.frames.empty() && found.telling != site.frames.data() &&
                        !(found.of_forward && is_compilers(site.frames.front().file));
    folded.line.with = with_others(site);
    folded.line.via = deeper ? code::place_of(called_from(site, found), 1) : std::string();
    folded.line.from = found.user == nullptr ? std::string() : code::place_of(*found.user, 1);
  }
  std::vector<user_line> lines;
  for (auto& [where, folded] : groups) lines.push_back(std::move(folded.line));
  std::ranges::stable_sort(lines, std::greater(), &user_line::bytes);
  return lines;
}

std::string kept_by_calls(const device_report& device) {
  for (const auto& line : fold_to_user_lines(device.never_freed)) {
    if (line.blocks == 1) continue;
    return fmt::format("{} blocks of {} ({}) were never freed", text::format_count(line.blocks),
                       line.where, text::brief_bytes(line.bytes));
  }
  return {};
}

}  // namespace memtrace::run
