// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "analyzer/model/estimate/estimate.h"

namespace memtrace::estimate {

namespace {

using nlohmann::json;

[[nodiscard]] std::uint64_t whole(double bytes) {
  return static_cast<std::uint64_t>(std::llround(bytes));
}

[[nodiscard]] json plan_json(const plan& wanted, const estimation& made) {
  json shown = {{"model", wanted.model.empty() ? json(nullptr) : json(wanted.model)},
                {"parameters", made.parameters},
                {"trained_parameters", made.trained},
                {"precision", bytes_of(wanted.how).name},
                {"optimizer", wanted.optimizer->name},
                {"lora_rank", wanted.lora.rank},
                {"quantized", wanted.lora.quantized},
                {"zero_stage", static_cast<int>(wanted.shard)},
                {"devices", wanted.devices},
                {"batch", wanted.batch},
                {"sequence", wanted.sequence},
                {"checkpointing", wanted.checkpointing},
                {"fused_attention", wanted.fused_attention},
                {"shape", nullptr}};
  if (!wanted.shape) return shown;
  const auto& shape = *wanted.shape;
  shown["shape"] = {{"layers", shape.layers},
                    {"decoder_layers", shape.decoder_layers},
                    {"hidden", shape.hidden},
                    {"heads", shape.heads},
                    {"kv_heads", shape.kv_heads},
                    {"head_size", shape.head_size},
                    {"feed_forward", shape.feed_forward},
                    {"vocabulary", shape.vocabulary}};
  return shown;
}

}  // namespace

std::string to_json(const plan& wanted, const estimation& made, const std::vector<gpu_fit>& fits) {
  json document = {{"schema", "memtrace-estimate/1"},
                   {"plan", plan_json(wanted, made)},
                   {"terms", json::array()},
                   {"backward_begins_bytes", whole(made.begin)},
                   {"backward_ends_bytes", whole(made.end)},
                   {"optimizer_steps_bytes", whole(made.step)},
                   {"peak_bytes", whole(made.peak())},
                   {"outside_pool_bytes", whole(made.outside)},
                   {"gpus", json::array()}};
  for (const auto& one : made.terms) {
    document["terms"].push_back({{"id", one.id},
                                 {"name", one.name},
                                 {"bytes", whole(one.bytes)},
                                 {"as_backward_begins", (one.when & backward_begins) != 0},
                                 {"as_backward_ends", (one.when & backward_ends) != 0},
                                 {"as_optimizer_steps", (one.when & optimizer_steps) != 0},
                                 {"formula", one.formula},
                                 {"source", citation(one.from)}});
  }
  const bool batches = wanted.shape && wanted.sequence != 0;
  for (const auto& one : fits) {
    document["gpus"].push_back(
        {{"gpu", one.gpu},
         {"total_bytes", one.total_bytes},
         {"used", one.used},
         {"fits", name_of(one.how)},
         {"largest_batch", batches ? json(one.largest_batch) : json(nullptr)},
         {"batch_at_the_end", batches ? json(one.batch_at_the_end) : json(nullptr)}});
  }
  return document.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace memtrace::estimate
