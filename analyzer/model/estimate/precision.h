// SPDX-License-Identifier: Apache-2.0
//
// In which number of bytes weights, gradients, optimizer states and activations are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace memtrace::estimate {

enum class precision : std::uint8_t {
  fp32,
  amp,     // torch.autocast: weights and states in 32 bits, casts of them in 16
  half,    // everything in 16 bits: model.bfloat16()
  master,  // weights and gradients in 16 bits, a copy of the weights and the states in 32
};

struct bytes_each {
  precision what{};
  std::string_view name;   // as --precision takes it
  std::string_view words;  // as a table says it
  std::uint8_t weight = 0;
  std::uint8_t gradient = 0;
  std::uint8_t master = 0;       // second copy of the weights
  std::uint8_t cast = 0;         // autocast's copy of a linear layer's weights
  std::uint8_t state = 0;        // an element of an optimizer state that has the weights' shape
  std::uint8_t computation = 0;  // an element of what linear layers read and write
};

[[nodiscard]] const bytes_each& bytes_of(precision what);
// fp32, amp, bf16 and fp16 (the same), master; empty: none of them.
[[nodiscard]] std::optional<precision> precision_named(std::string_view name);

}  // namespace memtrace::estimate
