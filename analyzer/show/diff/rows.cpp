// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/diff/diff.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "analyzer/base/text/utf8.h"
#include "analyzer/run/model/module_tree.h"
#include "analyzer/run/model/user_lines.h"
#include "analyzer/show/terminal/parts.h"
#include "analyzer/trace/code/moved_lines.h"

namespace memtrace::diff {

namespace {

[[nodiscard]] std::vector<changed_row> most_changed_first(std::vector<changed_row> rows) {
  std::erase_if(rows, [](const changed_row& row) { return row.difference() == 0; });
  std::ranges::stable_sort(rows, std::greater(),
                           [](const changed_row& row) { return std::abs(row.difference()); });
  return rows;
}

using sums = std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>;

[[nodiscard]] std::vector<changed_row> rows_of(const sums& by_name) {
  std::vector<changed_row> rows;
  for (const auto& [name, bytes] : by_name) {
    changed_row row;
    row.name = name;
    row.before = bytes.first;
    row.after = bytes.second;
    rows.push_back(std::move(row));
  }
  return most_changed_first(std::move(rows));
}

// GPT.h.*.attn (SelfAttention)
[[nodiscard]] std::string module_name(const attribution::module_row& module) {
  if (module.root.empty()) return "(in no module)";
  auto name = module.root;
  if (!module.path.empty()) name += "." + run::without_numbers(module.path);
  return text::printable(
      module.type.empty() || module.type == name ? name : name + " (" + module.type + ")");
}

// By category and line.
using lines_by_name = std::map<attribution::category, std::map<std::string, run::user_line>>;

[[nodiscard]] lines_by_name lines_of(const run::memory_view& view) {
  lines_by_name lines;
  for (auto& line : run::fold_to_user_lines(view.sites)) {
    const auto where = line.where;
    lines[line.what].emplace(where, std::move(line));
  }
  return lines;
}

void add_lines(attribution::category what, const std::map<std::string, run::user_line>& before,
               const std::map<std::string, run::user_line>& after, std::vector<changed_row>& rows) {
  for (const auto& [old_name, new_name] :
       code::pair_lines(code::names_of(before), code::names_of(after))) {
    changed_row row;
    row.name = new_name.empty() ? old_name : new_name;
    if (!old_name.empty() && old_name != row.name) row.name_before = old_name;
    row.what = what;
    if (!old_name.empty()) row.before = before.at(old_name).bytes;
    if (!new_name.empty()) row.after = after.at(new_name).bytes;
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<changed_row> compare_categories(const run::memory_view& before,
                                            const run::memory_view& after) {
  sums by_name;
  for (const auto& row : before.categories) by_name[words_of(row.what)].first += row.bytes;
  for (const auto& row : after.categories) by_name[words_of(row.what)].second += row.bytes;
  return rows_of(by_name);
}

std::vector<changed_row> compare_modules(const run::memory_view& before,
                                         const run::memory_view& after) {
  sums by_name;
  for (const auto& row : before.modules) by_name[module_name(row)].first += row.total;
  for (const auto& row : after.modules) by_name[module_name(row)].second += row.total;
  return rows_of(by_name);
}

std::vector<changed_row> compare_lines(const run::memory_view& before,
                                       const run::memory_view& after) {
  auto old_lines = lines_of(before);
  auto new_lines = lines_of(after);
  std::vector<changed_row> rows;
  for (std::size_t i = 0; i < attribution::category_count; ++i) {
    const auto what = static_cast<attribution::category>(i);
    add_lines(what, old_lines[what], new_lines[what], rows);
  }
  return most_changed_first(std::move(rows));
}

}  // namespace memtrace::diff
