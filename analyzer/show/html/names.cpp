// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/html/facts.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "analyzer/base/text/utf8.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::html {

std::string shortened(std::string_view name) {
  constexpr std::size_t most = 1000;  // bytes
  if (name.size() <= most) return std::string(name);
  auto end = most;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0u) == 0x80u) --end;  // in UTF-8
  return std::string(name.substr(0, end)) + "…";
}

std::uint32_t page_names::text(std::string_view words) {
  const auto known = text_numbers_.find(words);
  if (known != text_numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(shortened(words));
  text_numbers_.emplace(std::string(words), number);
  return number;
}

std::uint32_t page_names::frame(const code::source_frame& one) {
  const auto [known, is_new] = frame_numbers_.try_emplace(
      {one.file, one.line, one.function}, static_cast<std::uint32_t>(frames_.size()));
  if (is_new) frames_.push_back(one);
  return known->second;
}

std::vector<std::uint32_t> page_names::nodes_of(const history::stack_tree& stacks) {
  std::vector<std::uint32_t> numbers(std::max<std::size_t>(stacks.nodes.size(), 1));
  for (std::size_t i = 1; i < stacks.nodes.size(); ++i) {  // parents before children
    const auto& own = stacks.nodes[i];
    const history::stack_tree::node node{numbers[own.parent], frame(stacks.frames[own.frame])};
    const auto [known, is_new] = node_numbers_.try_emplace(
        {node.parent, node.frame}, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back(node);
    numbers[i] = known->second;
  }
  return numbers;
}

void page_names::write(column_writer& columns) {
  std::vector<std::uint64_t> parents, innermost;
  for (const auto& node : nodes_) {
    parents.push_back(node.parent);
    innermost.push_back(node.frame);
  }
  columns.add("stacks/parent", parents);
  columns.add("stacks/frame", innermost);
  std::vector<std::uint64_t> files, lines, functions, users;
  for (const auto& one : frames_) {
    files.push_back(text(one.file));
    lines.push_back(one.line);
    functions.push_back(text(one.function));
    users.push_back(one.user ? 1 : 0);
  }
  columns.add("frames/file", files);
  columns.add("frames/line", lines);
  columns.add("frames/function", functions);
  columns.add("frames/user", users);
}

void page_names::learn_sources(const history::run_history& of) {
  for (const auto& [file, text] : of.sources) sources_.emplace(file, text);
}

nlohmann::ordered_json page_names::sources() const {
  constexpr std::uint32_t around = 2;
  std::map<std::string, std::set<std::uint32_t>> wanted;
  for (const auto& frame : frames_) {
    if (!frame.user || frame.line == 0) continue;
    auto& lines = wanted[frame.file];
    for (auto line = frame.line; line <= frame.line + around; ++line) lines.insert(line);
    for (auto i = 1u; i <= around && i < frame.line; ++i) lines.insert(frame.line - i);
  }
  auto made = nlohmann::ordered_json::object();
  for (const auto& [file, lines] : wanted) {
    const auto known = sources_.find(file);
    if (known == sources_.end()) continue;
    const auto content = code::lines_of(known->second);
    auto found = nlohmann::ordered_json::object();
    for (const auto line : lines) {
      if (line > content.size()) break;
      found[std::to_string(line)] = shortened(text::valid_utf8(content[line - 1]));
    }
    if (!found.empty()) made[file] = std::move(found);
  }
  return made;
}

}  // namespace memtrace::html
