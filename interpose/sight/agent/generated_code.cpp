// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/generated_code.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

namespace memtrace::agent {

namespace {

constexpr std::ptrdiff_t row_width = 5;
constexpr std::ptrdiff_t frame_width = 3;

std::uint64_t address_in(py object) {
  const unsigned long long word = python_functions().as_word(object);
  if (word != ~0ull) return word;
  python_functions().clear_error();
  return 0;
}

std::uint32_t number_in(py object) {
  return static_cast<std::uint32_t>(address_in(object));
}

stack_id stack_of(recorder& to, py frames) {
  const python_api& api = python_functions();
  if (!is_tuple(frames)) return 0;
  std::vector<stack_frame> innermost_first;
  for (std::ptrdiff_t i = 0; i + frame_width <= api.tuple_size(frames); i += frame_width) {
    innermost_first.push_back({text_of(api.tuple_item(frames, i)),
                               text_of(api.tuple_item(frames, i + 2)),
                               number_in(api.tuple_item(frames, i + 1))});
  }
  std::reverse(innermost_first.begin(), innermost_first.end());
  return innermost_first.empty() ? 0 : to.intern(innermost_first);
}

}  // namespace

void record_generated(recorder& to, std::string_view file, std::uint64_t owner, std::uint32_t flags,
                      py rows) {
  const python_api& api = python_functions();
  if (!is_list(rows)) return;
  const std::uint32_t file_id = to.text_id(file);
  const std::uint32_t owner_id = to.object_id(owner);
  std::unordered_map<py, stack_id> known;  // many rows share a tuple of frames
  for (std::ptrdiff_t i = 0; i + row_width <= api.list_size(rows); i += row_width) {
    const py frames = api.list_item(rows, i + 2);
    const auto [stack, is_new] = known.try_emplace(frames, 0);
    if (is_new) stack->second = stack_of(to, frames);
    if (stack->second == 0) continue;
    const std::string_view operators = text_of(api.list_item(rows, i + 4));
    to.generated({.file = file_id,
                  .line = number_in(api.list_item(rows, i)),
                  .source = stack->second,
                  .operators = operators.empty() ? 0 : to.text_id(operators),
                  .module = to.object_id(address_in(api.list_item(rows, i + 3))),
                  .owner = owner_id,
                  .flags = flags | number_in(api.list_item(rows, i + 1))});
  }
}

}  // namespace memtrace::agent
