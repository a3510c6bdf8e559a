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

[[nodiscard]] const source_frame* innermost_user(const std::vector<source_frame>& frames) {
  const auto found = std::ranges::find_if(frames, &source_frame::user);
  return found == frames.end() ? nullptr : &*found;
}

[[nodiscard]] std::string place_of(const source_frame& frame, unsigned parts) {
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

// Of memory that a backward pass asked for: the line of the forward pass it works for.
[[nodiscard]] std::string backward_place(const call_site& site, unsigned parts) {
  const bool by_node = !site.node.empty() && site.frames.empty();
  const auto node = by_node ? fmt::format(" ({})", printable(site.node)) : std::string();
  if (const auto* const user = innermost_user(site.forward)) {
    return "backward of " + place_of(*user, parts) + node;
  }
  if (!site.forward.empty()) return "backward of " + place_without_user(site.forward, {}) + node;
  return "backward pass" + node;
}

// A backward pass that runs Python (checkpointing's recomputation) has frames, but on a thread of
// autograd none of the user's: then the line it works for says more.
[[nodiscard]] const source_frame* user_frame(const call_site& site) {
  const auto* const own = innermost_user(site.frames);
  return own != nullptr ? own : innermost_user(site.forward);
}

[[nodiscard]] std::string place_of(const call_site& site,
                                   const std::map<std::string_view, unsigned>& parts) {
  if (site.sites > 1) return fmt::format("{} smaller call sites", site.sites);
  const auto* const user = user_frame(site);
  const auto needed = user == nullptr ? 1 : parts.at(user->file);
  if (innermost_user(site.frames) == nullptr && !(site.forward.empty() && site.node.empty())) {
    return backward_place(site, needed);
  }
  return user == nullptr ? place_without_user(site.frames, site.thread) : place_of(*user, needed);
}

struct group {
  user_line line;
  std::uint64_t via_bytes = 0;  // of the call site that gave `via`
};

}  // namespace

std::string describe_place(const std::vector<source_frame>& frames, const std::string& thread) {
  const auto* const user = innermost_user(frames);
  return user == nullptr ? place_without_user(frames, thread) : place_of(*user, 1);
}

std::vector<user_line> fold_to_user_lines(const std::vector<call_site>& sites) {
  std::set<std::string_view> files;
  for (const auto& site : sites) {
    if (const auto* const user = user_frame(site)) files.insert(user->file);
  }
  const auto parts = needed_parts(files);
  std::map<std::pair<std::string, category>, group> groups;
  for (const auto& site : sites) {
    const auto where = place_of(site, parts);
    auto& folded = groups[{where, site.what}];
    folded.line.where = where;
    folded.line.what = site.what;
    folded.line.bytes += site.bytes;
    folded.line.blocks += site.blocks;
    folded.line.recomputed += site.recomputed;
    folded.line.attention_scores += site.attention_scores;
    const bool in_library = !site.frames.empty() && !site.frames.front().user;
    if (in_library && user_frame(site) != nullptr && site.bytes > folded.via_bytes) {
      folded.line.via = place_of(site.frames.front(), 1);
      folded.via_bytes = site.bytes;
    }
  }
  std::vector<user_line> lines;
  for (auto& [where, folded] : groups) lines.push_back(std::move(folded.line));
  std::ranges::stable_sort(lines, std::greater(), &user_line::bytes);
  return lines;
}

}  // namespace memtrace::report
