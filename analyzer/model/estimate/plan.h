// SPDX-License-Identifier: Apache-2.0
//
// The input of an estimate: which model is to be trained, and how.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/model/estimate/model_shape.h"
#include "analyzer/model/estimate/optimizers.h"
#include "analyzer/model/estimate/precision.h"

namespace memtrace::estimate {

enum class sharding : std::uint8_t {
  none,
  zero1,  // optimizer states and the 32-bit copy over the devices
  zero2,  // gradients, too
  zero3,  // weights, too: also FSDP's full sharding
};

enum class adapted : std::uint8_t { query_and_value, attention, all_linear };

struct adapters {
  std::uint64_t rank = 0;  // 0: none, everything is trained
  adapted where = adapted::query_and_value;
  bool quantized = false;  // the frozen linear layers in 4 bits
};

struct plan {
  std::string model;                 // name of a preset; empty: none
  std::optional<model_shape> shape;  // without it: model states alone
  std::uint64_t parameters = 0;      // 0: of the shape
  precision how = precision::fp32;
  const optimizer_facts* optimizer = optimizer_named("adamw");
  adapters lora;
  sharding shard = sharding::none;
  std::uint64_t devices = 1;
  std::uint64_t batch = 1;
  std::uint64_t sequence = 0;          // 0: no activations
  std::uint64_t decoder_sequence = 0;  // 0: as sequence
  bool checkpointing = false;          // of every layer
  bool fused_attention = true;
  bool accumulates = false;  // gradients outlive the step's first forward pass
  bool logits = true;        // a loss over the vocabulary
};

// Why no estimate can be made, in one sentence; empty where it can.
[[nodiscard]] std::string problem_with(const plan& wanted);

}  // namespace memtrace::estimate
