// SPDX-License-Identifier: Apache-2.0
//
// The states that optimizers keep of each parameter, and the memory that their steps need for a
// moment.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "analyzer/model/estimate/sources.h"

namespace memtrace::estimate {

enum class state_kind : std::uint8_t {
  full,       // tensors of the parameter's shape and type
  quantized,  // of its shape, a byte an element, and a 32-bit scale for each 256
  factored,   // a row and a column of each matrix, in 32 bits
};

struct optimizer_facts {
  std::string_view name;         // as --optimizer takes it
  std::string_view class_names;  // of Python classes, separated by spaces
  state_kind kind{};
  std::uint8_t tensors = 0;      // of the parameter's shape
  std::uint8_t temporaries = 0;  // of all parameters' gradients at once, in the foreach form
  source from{};
};

[[nodiscard]] std::span<const optimizer_facts> optimizers();
[[nodiscard]] const optimizer_facts* optimizer_named(std::string_view name);
// "AdamW", "PagedAdamW8bit"; of a class that derives from one under another name nothing is known.
[[nodiscard]] const optimizer_facts* optimizer_of_class(std::string_view class_name);

// Bytes of all states. `parameters`: elements that are trained; `element`: bytes of one in a full
// state; `rows_and_columns`: of the matrices among them.
[[nodiscard]] double state_bytes(const optimizer_facts& optimizer, double parameters,
                                 double element, double rows_and_columns);

}  // namespace memtrace::estimate
