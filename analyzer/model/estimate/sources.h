// SPDX-License-Identifier: Apache-2.0
//
// Where the formulas come from.
#pragma once

#include <cstdint>
#include <string_view>

namespace memtrace::estimate {

enum class source : std::uint8_t {
  arithmetic,     // elements × bytes of one
  torch_amp,      // autocast and its cache
  zero,           // bytes of mixed precision; sharding
  fsdp,           //
  torch_optim,    //
  torch_foreach,  // temporaries
  adam,           //
  eight_bit,      //
  adafactor,      //
  lion,           //
  lora,           //
  qlora,          //
  megatron,       // activations, recomputation
  flash,          // attention without stored scores
  transformers,   // activations of its implementations
  logits,         // of cross-entropy in PyTorch
  tied,           // weights that are the embedding's and the output layer's
  workspaces,     //
  context,        //
  headroom,       // targets
};

// One line: who says so, and where.
[[nodiscard]] std::string_view citation(source from);

}  // namespace memtrace::estimate
