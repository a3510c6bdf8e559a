// SPDX-License-Identifier: Apache-2.0
//
// Modules folded to the few rows that tell a person where the memory is: repeated layers are one
// row, and the tree is opened where most of it lies.
//
//   GPT ─ h ─ 0 … 11 ─ attn, mlp      ─►   GPT.h.*  (12 × Block)   6.1 GiB
//       └ wte                              GPT.wte  (Embedding)    0.4 GiB
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/model/attribution/result.h"

namespace memtrace::run {

struct module_line {
  std::string name;           // GPT.h.*; empty: memory of no module
  std::string type;           // the class, where all of the row have one
  std::uint64_t modules = 0;  // folded into this row
  attribution::by_category<std::uint64_t> bytes;
  std::uint64_t attention_scores = 0;  // of the activations
  std::uint64_t total = 0;
};

// The rows with most bytes first; together they have all bytes of `rows`. About `wanted` of them
// hold at least a hundredth.
[[nodiscard]] std::vector<module_line> fold_modules(
    const std::vector<attribution::module_row>& rows, std::size_t wanted);

struct module_tree_line {
  module_line line;       // with all below it
  std::size_t depth = 0;  // 0: a model, or what is in no module
};

// The whole tree, repeated layers as one; children with most bytes first, none without any, and
// in place of one that has nothing beside a single child that child.
[[nodiscard]] std::vector<module_tree_line> module_tree(
    const std::vector<attribution::module_row>& rows);

// The start that all names share, up to a dot: GPT of GPT.h.* and GPT.wte; empty: nothing
[[nodiscard]] std::string common_start(const std::vector<module_line>& lines);

// GPT.h.* (12 × Block); without `start` h.* (12 × Block)
[[nodiscard]] std::string label_of(const module_line& line, const std::string& start = {});

// A path with the numbers of repeated layers taken out: encoder.layer.7.attention ─►
// encoder.layer.*.attention
[[nodiscard]] std::string without_numbers(const std::string& path);

}  // namespace memtrace::run
