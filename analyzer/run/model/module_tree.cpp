// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/module_tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "analyzer/base/text/utf8.h"

namespace memtrace::run {

namespace {

using attribution::module_row;

// All modules whose paths differ in numbers only.
struct node {
  module_line own;  // without its children
  module_line all;  // with them
  std::vector<std::size_t> children;
  std::size_t parent = 0;
  bool mixed_types = false;
};

void add(module_line& sum, const module_row& row) {
  for (std::size_t i = 0; i < attribution::category_count; ++i) {
    sum.bytes.values[i] += row.bytes.values[i];
  }
  sum.attention_scores += row.attention_scores;
  sum.total += row.total;
}

// Node 0 is above all models.
[[nodiscard]] std::vector<node> build_nodes(const std::vector<module_row>& rows) {
  std::vector<node> nodes(1);
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto name = row.path.empty() ? row.root : row.root + "." + without_numbers(row.path);
    const auto [at, is_new] = known.emplace(name, nodes.size());
    if (is_new) {
      const auto& above = rows[row.parent];
      const auto parent_name =
          above.path.empty() ? above.root : above.root + "." + without_numbers(above.path);
      const auto parent = known.find(parent_name);
      nodes.emplace_back();
      nodes.back().parent =
          row.parent == 0 || parent == known.end() || parent == at ? 0 : parent->second;
      nodes.back().own.name = name;
      nodes.back().own.type = row.type;
      nodes[nodes.back().parent].children.push_back(at->second);
    }
    auto& found = nodes[at->second];
    found.mixed_types = found.mixed_types || found.own.type != row.type;
    ++found.own.modules;
    add(found.own, row);
    for (auto up = at->second; up != 0; up = nodes[up].parent) add(nodes[up].all, row);
  }
  for (auto& one : nodes) {
    if (one.mixed_types) one.own.type.clear();
    one.all.name = one.own.name;
    one.all.type = one.own.type;
    one.all.modules = one.own.modules;
  }
  return nodes;
}

// A row of the view: a node with all below it, or without.
struct open_row {
  std::size_t node = 0;
  bool opened = false;
};

// The child that holds all that the node holds; 0: none does.
[[nodiscard]] std::size_t only_holder(const std::vector<node>& nodes, std::size_t at) {
  for (const auto child : nodes[at].children) {
    if (nodes[child].all.total == nodes[at].all.total) return child;
  }
  return 0;
}

[[nodiscard]] const module_line& line_of(const std::vector<node>& nodes, const open_row& row) {
  return row.opened ? nodes[row.node].own : nodes[row.node].all;
}

}  // namespace

std::string without_numbers(const std::string& path) {
  std::string out;
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find('.', at), path.size());
    const auto part = path.substr(at, end - at);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    if (!out.empty()) out += '.';
    out += number ? "*" : part;
    at = end + 1;
  }
  return out;
}

std::vector<module_line> fold_modules(const std::vector<module_row>& rows, std::size_t wanted) {
  const auto nodes = build_nodes(rows);
  std::vector<open_row> shown;
  for (const auto root : nodes[0].children) shown.push_back({root, false});
  std::uint64_t total = rows.empty() ? 0 : rows[0].total;
  for (const auto& row : shown) total += line_of(nodes, row).total;
  const auto large = [&](const module_line& line) {
    return line.total != 0 && line.total >= total / 100;
  };
  for (auto rows_now = shown.size(); !shown.empty();) {
    auto most = shown.end();
    for (auto at = shown.begin(); at != shown.end(); ++at) {
      if (at->opened || nodes[at->node].children.empty()) continue;
      if (most == shown.end() || line_of(nodes, *at).total > line_of(nodes, *most).total) most = at;
    }
    if (most == shown.end()) break;
    const auto& opened = nodes[most->node];
    auto after = rows_now - 1 + (large(opened.own) ? 1 : 0);
    for (const auto child : opened.children) after += large(nodes[child].all) ? 1 : 0;
    if (after > wanted) break;
    rows_now = after;
    const auto index = most->node;
    *most = {index, true};
    for (const auto child : opened.children) shown.push_back({child, false});
  }
  std::vector<module_line> lines;
  for (const auto& row : shown) {
    if (line_of(nodes, row).total != 0) lines.push_back(line_of(nodes, row));
  }
  if (!rows.empty() && rows[0].total != 0) {
    lines.emplace_back();
    add(lines.back(), rows[0]);
  }
  std::ranges::stable_sort(lines, std::greater(), &module_line::total);
  return lines;
}

std::vector<module_tree_line> module_tree(const std::vector<module_row>& rows) {
  auto nodes = build_nodes(rows);
  for (auto& one : nodes) {
    std::ranges::stable_sort(one.children, std::greater(),
                             [&](std::size_t child) { return nodes[child].all.total; });
  }
  std::vector<module_tree_line> lines;
  std::vector<std::pair<std::size_t, std::size_t>> open;  // node, depth; the next one last
  const auto push = [&](const std::vector<std::size_t>& children, std::size_t depth) {
    for (auto at = children.rbegin(); at != children.rend(); ++at) open.emplace_back(*at, depth);
  };
  for (push(nodes[0].children, 0); !open.empty();) {
    auto [at, depth] = open.back();
    open.pop_back();
    if (nodes[at].all.total == 0) continue;
    // One that holds nothing but a single child is shown as that child.
    for (auto child = only_holder(nodes, at); child != 0; child = only_holder(nodes, at)) {
      at = child;
    }
    lines.push_back({nodes[at].all, depth});
    push(nodes[at].children, depth + 1);
  }
  if (!rows.empty() && rows[0].total != 0) {
    lines.emplace_back();
    add(lines.back().line, rows[0]);
  }
  return lines;
}

std::string common_start(const std::vector<module_line>& lines) {
  std::string start;
  bool first = true;
  for (const auto& line : lines) {
    if (line.name.empty()) continue;
    if (std::exchange(first, false)) start = line.name;
    while (!start.empty() && line.name != start && !line.name.starts_with(start + ".")) {
      const auto dot = start.rfind('.');
      start.resize(dot == start.npos ? 0 : dot);
    }
  }
  return start;
}

std::string label_of(const module_line& line, const std::string& start) {
  if (line.name.empty()) return "in no module";
  auto name = line.name;
  if (line.name == start) {
    name = "itself";
  } else if (!start.empty()) {
    name = line.name.substr(start.size() + 1);
  }
  if (line.modules > 1) {
    const auto type = line.type.empty() ? std::string() : " × " + line.type;
    return text::printable(fmt::format("{} ({}{})", name, line.modules, type));
  }
  // Models are named by their class.
  const bool says_more = !line.type.empty() && line.name.find('.') != line.name.npos;
  return text::printable(says_more ? fmt::format("{} ({})", name, line.type) : name);
}

}  // namespace memtrace::run
