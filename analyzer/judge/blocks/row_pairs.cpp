// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzer/judge/blocks/passes.h"

namespace memtrace::blocks {

using allocator::block_number;
using attribution::category;
using attribution::phase;

namespace {

// The rows of (rows, rows) that multiplies (rows, width), as an operation tells that keeps both:
// each row of the product is of all rows. A computed weight is as large as its parameter, and what
// it multiplies may have as many columns as rows.
[[nodiscard]] std::set<std::uint32_t> rows_of_products(const evidence& of) {
  std::set<std::uint64_t> parameters;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    if (of.blocks[block].what == category::weights) parameters.insert(bytes_of(of, block));
  }
  const auto is_computed = [&](const block_facts& facts) {
    return facts.what == category::activations && facts.dimensions == 2;
  };
  std::set<std::uint32_t> found;
  for (std::size_t i = 1; i < of.keepings.size(); ++i) {
    const auto& left = of.keepings[i - 1];
    const auto& right = of.keepings[i];
    if (left.before != right.before || left.output || right.output) continue;
    const std::array both = {block_from(of, left.block_event), block_from(of, right.block_event)};
    for (const auto square : both) {
      const auto other = square == both[0] ? both[1] : both[0];
      if (square >= of.blocks.size() || other >= of.blocks.size()) continue;
      const auto& rows = of.blocks[square];
      const auto& width = of.blocks[other];
      if (!is_computed(rows) || !is_computed(width) || rows.rows != rows.columns) continue;
      // (rows, 1) is a factor of each row.
      if (width.rows != rows.rows || width.columns == 1 || width.columns == rows.rows) continue;
      if (!parameters.contains(bytes_of(of, other))) found.insert(rows.rows);
    }
  }
  return found;
}

// Each row of what is computed by each row of something else that is, or of itself (a @ b.T of a
// contrastive loss, z @ z.T), as the operation tells that keeps both: what comes out has as many rows as
// columns. A copy of a weight in another type, or a weight that is computed, has as many numbers as a
// parameter.
[[nodiscard]] bool multiplies_rows(const evidence& of, const run_passes& passes) {
  std::set<std::uint64_t> parameters;  // numbers of each
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto facts = of.blocks[block];
    if (facts.what != category::weights || facts.element_bits == 0) continue;
    parameters.insert(bytes_of(of, block) * 8 / facts.element_bits);
  }
  const auto is_computed = [&](block_number block) {
    if (block >= of.blocks.size() || passes.of_block[block] != activity::training) return false;
    const auto facts = of.blocks[block];
    const bool is_made = facts.what == category::activations || facts.what == category::outputs;
    return is_made && facts.dimensions == 2 && facts.element_bits != 0 && !facts.cast_copy &&
           !parameters.contains(bytes_of(of, block) * 8 / facts.element_bits);
  };
  for (std::size_t i = 1; i < of.keepings.size(); ++i) {
    const auto& one = of.keepings[i - 1];
    const auto& other = of.keepings[i];
    if (one.before != other.before || one.output || other.output) continue;
    const auto left = block_from(of, one.block_event);
    const auto right = block_from(of, other.block_event);
    const auto made = block_from(of, one.before);
    if (!is_computed(left) || !is_computed(right) || made >= of.blocks.size()) continue;
    const auto rows = of.blocks[left];
    const auto by = of.blocks[right];
    // As it is, or transposed, as it was kept first.
    const auto is_as = (rows.rows == by.rows && rows.columns == by.columns) ||
                       (rows.rows == by.columns && rows.columns == by.rows);
    if (!is_as || rows.rows == rows.columns) continue;
    const auto numbers = bytes_of(of, made) * 8 / rows.element_bits;
    const auto is_of_pairs = [&](std::uint64_t side) { return numbers == side * side; };
    if (is_of_pairs(rows.rows) || is_of_pairs(rows.columns)) return true;
  }
  return false;
}

// The distances of all rows from one another: torch.cdist(e, e) keeps as many rows of them as columns.
[[nodiscard]] bool measures_distances(const evidence& of, const run_passes& passes) {
  std::set<trace::stack_id> lines;
  for (const auto& facts : of.blocks) {
    if (!facts.node || !facts.forward) continue;
    const auto node = of.names[facts.node];
    const bool is_distance =
        node.starts_with("CdistBackward") || node.starts_with("EuclideanDistBackward");
    if (is_distance) lines.insert(facts.forward);
  }
  for (block_number block = 0; block < of.blocks.size() && !lines.empty(); ++block) {
    const auto facts = of.blocks[block];
    const bool is_kept = passes.of_block[block] == activity::training && facts.kept_by_autograd &&
                         lines.contains(facts.stack);
    if (is_kept && facts.dimensions == 2 && facts.rows == facts.columns) return true;
  }
  return false;
}

}  // namespace

bool trains_on_pairs(const evidence& of, const run_passes& passes) {
  if (multiplies_rows(of, passes) || measures_distances(of, passes)) return true;
  const auto products = rows_of_products(of);
  std::set<std::uint32_t> rows;
  std::map<std::uint32_t, std::uint64_t> squares;
  std::uint64_t all = 0;
  for (block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (passes.of_block[block] != activity::training || !facts.kept_by_autograd) continue;
    if (facts.what != category::activations || facts.born_in != phase::forward) continue;
    all += bytes_of(of, block);
    if (facts.dimensions == 2 && facts.rows != facts.columns) rows.insert(facts.rows);
    if (facts.rows == facts.columns &&
        (facts.dimensions == 3 || (facts.dimensions == 2 && products.contains(facts.rows)))) {
      squares[facts.rows] += bytes_of(of, block);
    }
  }
  constexpr std::uint64_t least_part = 10;
  return std::ranges::any_of(squares, [&](const auto& one) {
    return rows.contains(one.first) && one.second >= all / least_part;
  });
}

}  // namespace memtrace::blocks
