// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/diff_rows.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <utility>

#include "analyzer/report/json_text.h"
#include "analyzer/report/module_tree.h"
#include "analyzer/report/terminal_memory.h"
#include "analyzer/report/user_lines.h"

namespace memtrace::report {

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
  if (!module.path.empty()) name += "." + without_numbers(module.path);
  return printable(module.type.empty() || module.type == name ? name
                                                              : name + " (" + module.type + ")");
}

[[nodiscard]] std::uint64_t own_bytes(const attribution::module_row& module) {
  return module.total;
}

// "backward of train.py:33 forward" without the number of the line.
[[nodiscard]] std::string without_line(const std::string& where) {
  std::string out;
  for (std::size_t i = 0; i < where.size(); ++i) {
    out += where[i];
    if (where[i] != ':') continue;
    while (i + 1 < where.size() && std::isdigit(static_cast<unsigned char>(where[i + 1])) != 0) ++i;
  }
  return out;
}

using line_key = std::pair<std::string, category>;
using lines_by_key = std::map<line_key, user_line>;

[[nodiscard]] lines_by_key lines_of(const memory_view& view) {
  lines_by_key lines;
  for (auto& line : fold_to_user_lines(view.sites)) {
    const line_key key{line.where, line.what};
    lines.emplace(key, std::move(line));
  }
  return lines;
}

[[nodiscard]] changed_row row_of(const user_line* before, const user_line* after) {
  changed_row row;
  const auto& named = after == nullptr ? *before : *after;
  row.name = named.where;
  row.what = named.what;
  if (before != nullptr) row.before = before->bytes;
  if (after != nullptr) row.after = after->bytes;
  if (before != nullptr && after != nullptr && before->where != after->where) {
    row.name_before = before->where;
  }
  return row;
}

// The lines of one function that only one of the runs has, in the order of their numbers.
struct moved_lines {
  std::vector<const user_line*> before, after;
};

void order_by_line(std::vector<const user_line*>& lines) {
  std::ranges::sort(lines, [](const user_line* a, const user_line* b) {
    return std::pair(a->where.size(), a->where) < std::pair(b->where.size(), b->where);
  });
}

}  // namespace

std::vector<changed_row> compare_categories(const memory_view& before, const memory_view& after) {
  sums by_name;
  for (const auto& row : before.categories) by_name[words_of(row.what)].first += row.bytes;
  for (const auto& row : after.categories) by_name[words_of(row.what)].second += row.bytes;
  return rows_of(by_name);
}

std::vector<changed_row> compare_modules(const memory_view& before, const memory_view& after) {
  sums by_name;
  for (const auto& row : before.modules) by_name[module_name(row)].first += own_bytes(row);
  for (const auto& row : after.modules) by_name[module_name(row)].second += own_bytes(row);
  return rows_of(by_name);
}

std::vector<changed_row> compare_lines(const memory_view& before, const memory_view& after) {
  const auto old_lines = lines_of(before);
  const auto new_lines = lines_of(after);
  std::vector<changed_row> rows;
  std::map<line_key, moved_lines> unmatched;
  for (const auto& [key, line] : old_lines) {
    if (const auto same = new_lines.find(key); same != new_lines.end()) {
      rows.push_back(row_of(&line, &same->second));
    } else {
      unmatched[{without_line(line.where), line.what}].before.push_back(&line);
    }
  }
  for (const auto& [key, line] : new_lines) {
    if (old_lines.contains(key)) continue;
    unmatched[{without_line(line.where), line.what}].after.push_back(&line);
  }
  for (auto& [key, moved] : unmatched) {
    order_by_line(moved.before);
    order_by_line(moved.after);
    for (std::size_t i = 0; i < std::max(moved.before.size(), moved.after.size()); ++i) {
      rows.push_back(row_of(i < moved.before.size() ? moved.before[i] : nullptr,
                            i < moved.after.size() ? moved.after[i] : nullptr));
    }
  }
  return most_changed_first(std::move(rows));
}

}  // namespace memtrace::report
