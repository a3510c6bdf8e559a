// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/user_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/report/json_text.h"

namespace memtrace::report {

namespace {

[[nodiscard]] std::string_view last_parts(std::string_view file, unsigned parts) {
  auto at = file.size();
  for (unsigned i = 0; i < parts; ++i) {
    if (at == 0) return file;
    const auto slash = file.rfind('/', at - 1);
    if (slash == file.npos) return file;
    at = slash;
  }
  return file.substr(at + 1);
}

// Functions as Python names them; of nested ones the last part says enough.
[[nodiscard]] std::string_view short_function(std::string_view function) {
  constexpr std::string_view local = "<locals>.";
  const auto at = function.rfind(local);
  return at == function.npos ? function : function.substr(at + local.size());
}

using frame_list = std::vector<source_frame>;

[[nodiscard]] const source_frame* innermost_user(const frame_list& frames) {
  const auto found = std::ranges::find_if(frames, &source_frame::user);
  return found == frames.end() ? nullptr : &*found;
}

// The innermost frame that is the user's, or a model library's while one of its modules runs (what
// trainers and optimizers of libraries do, is told by the line that calls them).
[[nodiscard]] const source_frame* telling_frame(const frame_list& frames) {
  const auto library = std::ranges::find_if(
      frames, [](const source_frame& frame) { return frame.user || is_model_library(frame.file); });
  const bool in_module = std::any_of(library, frames.end(), [](const source_frame& frame) {
    return frame.file.ends_with("torch/nn/modules/module.py");
  });
  const auto* const user = innermost_user(frames);
  if (library == frames.end() || (user != nullptr && !in_module)) return user;
  return &*library;
}

[[nodiscard]] std::string place_of(const source_frame& frame, unsigned parts) {
  if (frame.line == 0) {  // a native frame, or outer ones left out
    const std::string_view file = last_parts(frame.file, parts);
    return printable(fmt::format("{}{}{}", file, file.empty() ? "" : " ", frame.function));
  }
  return printable(fmt::format("{}:{} {}", last_parts(frame.file, parts), frame.line,
                               short_function(frame.function)));
}

[[nodiscard]] std::string place_without_user(const std::vector<source_frame>& frames,
                                             const std::string& thread) {
  if (!frames.empty()) return place_of(frames.back(), 2) + " (library code)";
  if (thread.starts_with("pt_autograd")) return "backward pass (no Python frame)";
  if (thread.empty()) return "no Python frame";
  return printable(fmt::format("no Python frame (thread {})", thread));
}

// How many last components of its path a file needs to differ from the others.
[[nodiscard]] std::map<std::string_view, unsigned> needed_parts(
    const std::set<std::string_view>& files) {
  std::map<std::string_view, unsigned> needed;
  for (const auto file : files) {
    unsigned parts = 1;
    const auto clashes = [&] {
      return std::ranges::count_if(files, [&](std::string_view other) {
               return last_parts(other, parts) == last_parts(file, parts);
             }) > 1;
    };
    while (parts < 8 && clashes()) ++parts;
    needed[file] = parts;
  }
  return needed;
}

// A backward pass that runs Python (checkpointing's recomputation) has frames of its own; else the
// line of the forward pass that it works for says most.
struct place_frames {
  const source_frame* telling = nullptr;
  const source_frame* user = nullptr;  // where that is another one
  bool of_forward = false;
};

[[nodiscard]] place_frames frames_that_tell(const call_site& site) {
  place_frames found;
  found.telling = telling_frame(site.frames);
  found.user = innermost_user(site.frames);
  if (found.telling == nullptr) {
    found.telling = telling_frame(site.forward);
    found.of_forward = true;
  }
  if (found.user == nullptr) found.user = innermost_user(site.forward);
  if (found.user == found.telling) found.user = nullptr;
  return found;
}

[[nodiscard]] std::string describe(const call_site& site, const place_frames& found,
                                   const std::map<std::string_view, unsigned>& parts) {
  if (site.sites > 1) return fmt::format("{} smaller call sites", site.sites);
  if (found.telling != nullptr && !found.of_forward) {
    return place_of(*found.telling, parts.at(found.telling->file));
  }
  if (site.forward.empty() && site.node.empty()) {
    return place_without_user(site.frames, site.thread);
  }
  std::string place = "backward pass";
  if (found.telling != nullptr) {
    place = "backward of " + place_of(*found.telling, parts.at(found.telling->file));
  } else if (!site.forward.empty()) {
    place = "backward of " + place_without_user(site.forward, {});
  }
  const bool by_node = !site.node.empty() && site.frames.empty();
  return by_node ? fmt::format("{} ({})", place, printable(site.node)) : place;
}

struct group {
  user_line line;
  std::uint64_t most_bytes = 0;  // of the call site that gave `via` and `from`
};

}  // namespace

std::string short_place(const frame_list& frames, const std::string& thread) {
  const auto* const telling = telling_frame(frames);
  return telling == nullptr ? place_without_user(frames, thread) : place_of(*telling, 1);
}

std::string describe_place(const frame_list& frames, const std::string& thread) {
  const auto* const user = innermost_user(frames);
  const auto place = short_place(frames, thread);
  return user == nullptr || user == telling_frame(frames) ? place
                                                          : place + " from " + place_of(*user, 1);
}

std::vector<user_line> fold_to_user_lines(const std::vector<call_site>& sites) {
  std::set<std::string_view> files;
  for (const auto& site : sites) {
    if (const auto* const telling = frames_that_tell(site).telling) files.insert(telling->file);
  }
  const auto parts = needed_parts(files);
  std::map<std::pair<std::string, category>, group> groups;
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
    const bool deeper = !site.frames.empty() && found.telling != site.frames.data();
    folded.line.via = deeper ? place_of(site.frames.front(), 1) : std::string();
    folded.line.from = found.user == nullptr ? std::string() : place_of(*found.user, 1);
  }
  std::vector<user_line> lines;
  for (auto& [where, folded] : groups) lines.push_back(std::move(folded.line));
  std::ranges::stable_sort(lines, std::greater(), &user_line::bytes);
  return lines;
}

}  // namespace memtrace::report
