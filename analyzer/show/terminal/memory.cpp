// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/parts.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"
#include "analyzer/run/model/module_tree.h"
#include "analyzer/run/model/user_lines.h"

namespace memtrace::terminal {

namespace {

// Rows that hold less than a two-thousandth are not worth a line.
constexpr std::uint64_t smallest_share = 2000;

[[nodiscard]] std::string amount(std::uint64_t bytes, std::uint64_t total) {
  return fmt::format("  {:>11} {:>5.1f} %", text::format_bytes(bytes), text::percent(bytes, total));
}

// How many of the rows to show, so that what is left is more than one row and worth folding.
template <class Row, class Bytes>
[[nodiscard]] std::size_t rows_to_show(const std::vector<Row>& rows, std::uint64_t total,
                                       std::size_t most, Bytes bytes_of) {
  const auto worth = static_cast<std::size_t>(std::ranges::count_if(
      rows, [&](const Row& row) { return bytes_of(row) >= total / smallest_share; }));
  auto shown = rows.size() <= most ? rows.size() : most - 1;
  if (rows.size() - std::min(worth, shown) > 1) shown = std::min(worth, shown);
  return shown;
}

template <class Row, class Bytes>
void add_rest(text::page& out, const std::vector<Row>& rows, std::size_t shown, std::uint64_t total,
              Bytes bytes_of) {
  if (shown == rows.size()) return;
  std::uint64_t rest = 0;
  for (std::size_t i = shown; i < rows.size(); ++i) rest += bytes_of(rows[i]);
  out.line(amount(rest, total) +
               fmt::format("         and {} smaller", text::format_count(rows.size() - shown)),
           text::emphasis::faint);
}

// annotated, or 93.1 % annotated, 6.9 % inferred
[[nodiscard]] std::string how_known(const run::category_row& row) {
  std::string out;
  for (std::size_t i = 0; i < attribution::evidence_count; ++i) {
    const auto how = static_cast<attribution::evidence>(i);
    const auto bytes = row.evidence_bytes[how];
    if (bytes == 0) continue;
    if (!out.empty()) out += ", ";
    const auto share = text::percent(bytes, row.bytes);
    out += bytes == row.bytes ? std::string(name_of(how))
           : share < 0.05     ? fmt::format("< 0.1 % {}", name_of(how))
                              : fmt::format("{:.1f} % {}", std::min(share, 99.9), name_of(how));
  }
  return out;
}

[[nodiscard]] std::string remarks(const run::category_row& row, const run::memory_view& view) {
  std::string out;
  const auto add = [&](std::uint64_t bytes, const char* text) {
    if (bytes != 0) out += fmt::format("; {} {}", text::format_bytes(bytes), text);
  };
  add(row.attention_scores, "attention scores (square of the sequence)");
  add(row.recomputed, "recomputed");
  if (row.what == attribution::category::unknown) {
    add(view.unrecorded, "in blocks whose allocation was not recorded");
  }
  return out;
}

// The largest parts of a module: activations 3.3 GiB, weights 0.7 GiB
[[nodiscard]] std::string parts_of(const run::module_line& line) {
  std::vector<attribution::category> order;
  for (std::size_t i = 0; i < attribution::category_count; ++i) {
    const auto what = static_cast<attribution::category>(i);
    if (line.bytes[what] != 0 && line.bytes[what] >= line.total / 100) order.push_back(what);
  }
  std::ranges::stable_sort(order, std::greater(),
                           [&](attribution::category what) { return line.bytes[what]; });
  if (order.size() > 3) order.resize(3);
  std::string out;
  for (const auto what : order) {
    if (!out.empty()) out += ", ";
    out += words_of(what) + " " + text::format_bytes(line.bytes[what]);
    if (what == attribution::category::activations && line.attention_scores != 0) {
      out += fmt::format(" ({} attention scores)", text::format_bytes(line.attention_scores));
    }
  }
  return out;
}

[[nodiscard]] std::string what_of(const run::user_line& line) {
  std::string out = words_of(line.what);
  if (line.attention_scores * 2 > line.bytes) out += ", attention scores";
  if (line.recomputed * 2 > line.bytes) out += ", recomputed";
  return out;
}

}  // namespace

void add_categories(text::page& out, const run::memory_view& view, const std::string& heading,
                    std::size_t most_rows) {
  const auto& rows = view.categories;
  if (rows.empty()) return;
  out.line(heading, text::emphasis::heading);
  const auto shown =
      rows_to_show(rows, view.total, most_rows, std::mem_fn(&run::category_row::bytes));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = rows[i];
    const bool nothing = row.what == attribution::category::unknown;
    out.line(amount(row.bytes, view.total) +
             fmt::format("  {:<17} {}{}", words_of(row.what),
                         nothing ? "no rule applies" : how_known(row), remarks(row, view)));
  }
  add_rest(out, rows, shown, view.total, std::mem_fn(&run::category_row::bytes));
}

void add_modules(text::page& out, const run::memory_view& view, std::size_t most_rows) {
  if (most_rows < 2 || view.modules.size() < 2) return;
  const auto lines = run::fold_modules(view.modules, most_rows);
  // The model as a whole is no answer to the question which module it is.
  const auto named =
      std::ranges::count_if(lines, [](const run::module_line& line) { return !line.name.empty(); });
  if (named < 2) return;
  const auto shown =
      rows_to_show(lines, view.total, most_rows, std::mem_fn(&run::module_line::total));
  const auto start = run::common_start(lines);
  std::size_t width = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    width = std::max(width, label_of(lines[i], start).size());
  }
  width = std::min<std::size_t>(width, 52);
  out.line("Which module it belongs to" + (start.empty() ? start : " (of " + start + ")"),
           text::emphasis::heading);
  for (std::size_t i = 0; i < shown; ++i) {
    out.line(amount(lines[i].total, view.total) +
             fmt::format("  {:<{}}  {}", label_of(lines[i], start), width, parts_of(lines[i])));
  }
  add_rest(out, lines, shown, view.total, std::mem_fn(&run::module_line::total));
}

void add_lines_of_code(text::page& out, const std::vector<run::call_site>& sites,
                       std::uint64_t total, std::size_t most_rows) {
  const auto lines = run::fold_to_user_lines(sites);
  if (lines.empty() || total == 0 || most_rows < 2) return;
  out.line("Which lines asked for it (bytes, share, blocks, line, category)",
           text::emphasis::heading);
  const auto shown = rows_to_show(lines, total, most_rows, std::mem_fn(&run::user_line::bytes));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& line = lines[i];
    // One of the two is enough on a line.
    const auto tail = !line.with.empty()   ? "  fused with " + line.with
                      : !line.from.empty() ? "  from " + line.from
                      : !line.via.empty()  ? "  via " + line.via
                                           : std::string();
    out.line(amount(line.bytes, total) + fmt::format(" {:>6}  {}{}  {}",
                                                     text::format_count(line.blocks), line.where,
                                                     tail, what_of(line)));
  }
  add_rest(out, lines, shown, total, std::mem_fn(&run::user_line::bytes));
}

}  // namespace memtrace::terminal
