// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/code/unknown_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/base/text/numbers.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::code {

namespace {

// As native_functions.yaml tags them, but for those whose read is no size in practice: the lengths
// that ctc_loss is given, the rank that lstsq finds. Held against PyTorch's own tags by
// tests/simulator/libraries/test_chosen_values.py.
constexpr std::array<std::string_view, 10> sized_by_values{
    "_unique2", "argwhere",          "bincount",           "index",      "masked_select",
    "nonzero",  "repeat_interleave", "unique_consecutive", "unique_dim", "unique_dim_consecutive"};

// "nonzero" of at::_ops::nonzero::call, "index_Tensor" of at::_ops::index_Tensor::redispatch; empty
// where it is no call of an operator.
[[nodiscard]] std::string_view operator_in(std::string_view function) {
  constexpr std::string_view before = "at::_ops::";
  if (!function.starts_with(before)) return {};
  function.remove_prefix(before.size());
  return function.substr(0, function.find("::"));
}

// Without its overload, "Tensor" or "out"; empty: of another size. index_add is no overload of index.
[[nodiscard]] std::string_view sized_operator(std::string_view name) {
  const auto known = std::ranges::find_if(sized_by_values, [&](std::string_view one) {
    if (!name.starts_with(one)) return false;
    const auto overload = name.substr(one.size());
    return overload.empty() || overload.starts_with("_Tensor") || overload == "_out";
  });
  return known == sized_by_values.end() ? std::string_view() : *known;
}

}  // namespace

std::vector<unknown_size> unknown_sizes(const trace::dictionary& names,
                                        const std::vector<std::string>& reads) {
  std::vector<unknown_size> found;
  std::vector<unknown_size> without_line;  // of backward passes, which run no Python
  for (const std::string_view read : reads) {
    const auto space = std::min(read.find(' '), read.size());
    const auto number = text::number_in(read.substr(0, space));
    if (!number || !names.knows_stack(*number)) continue;  // a damaged trace
    auto frames = frames_of(names, names.stack_of(*number));
    const auto told = sized_operator(read.substr(std::min(space + 1, read.size())));
    auto operation = told;
    // The outermost is the one that the program asked for.
    for (const auto& frame : frames) {
      const auto one = sized_operator(operator_in(frame.function));
      if (told.empty() && !one.empty()) operation = one;
    }
    if (operation.empty()) continue;
    std::erase_if(frames, [](const source_frame& frame) { return frame.line == 0; });  // native
    unknown_size made{std::string(operation), describe_place(frames, {})};
    auto& to = telling_frame(frames) == nullptr ? without_line : found;
    if (std::ranges::find(to, made) == to.end()) to.push_back(std::move(made));
  }
  return found.empty() ? without_line : found;
}

std::string places_of(const std::vector<unknown_size>& sizes) {
  if (sizes.size() == 1) return sizes.front().place;
  return fmt::format("{} (and {} more)", sizes.front().place, sizes.size() - 1);
}

}  // namespace memtrace::code
