// SPDX-License-Identifier: Apache-2.0
//
// Against the numbers of parameters that the models' authors publish.
#include <cstdint>
#include <string>

#include "analyzer/model/estimate/model_shape.h"
#include "tests/unit/catch.h"

using namespace memtrace::estimate;

namespace {

std::uint64_t parameters_of(const std::string& name) {
  const auto shape = find_preset(name);
  REQUIRE(shape);
  return count_parameters(*shape).total;
}

}  // namespace

TEST_CASE("Parameters of the presets are those of the published checkpoints") {
  struct published {
    const char* model;
    std::uint64_t parameters;
  };
  // The sizes of the safetensors files on the Hugging Face hub; BERT with its head for masked
  // words, the output layer being the embedding.
  const published all[] = {
      {"t5-small", 60506624},     {"t5-base", 222903552},       {"t5-large", 737668096},
      {"mt5-small", 300176768},   {"mt5-base", 582401280},      {"mt5-large", 1229581312},
      {"mt5-xl", 3742619648},     {"bert-base", 109514298},     {"bert-large", 335174458},
      {"gpt2", 124439808},        {"gpt2-medium", 354823168},   {"gpt2-large", 774030080},
      {"gpt2-xl", 1557611200},    {"llama-2-7b", 6738415616},   {"llama-2-13b", 13015864320},
      {"llama-3-8b", 8030261248}, {"llama-3.2-1b", 1235814400},
  };
  for (const auto& one : all) {
    INFO(one.model);
    CHECK(parameters_of(one.model) == one.parameters);
  }
  CHECK(presets().size() == std::size(all));
  CHECK_FALSE(find_preset("t5-huge"));
}

TEST_CASE("What follows from a shape is filled in") {
  model_shape shape;
  shape.layers = 2;
  shape.hidden = 64;
  shape.heads = 4;
  const auto all = completed(shape);
  CHECK(all.kv_heads == 4);
  CHECK(all.head_size == 16);
  CHECK(all.feed_forward == 256);
  CHECK(all.inner() == 64);
}

TEST_CASE("A layer of the generic family is 12 h² in matrices") {
  // Megatron-LM, arXiv 2205.05198, section 2: 12 L h² without embedding, biases and norms.
  model_shape shape;
  shape.layers = 3;
  shape.hidden = 32;
  shape.heads = 4;
  const auto found = count_parameters(completed(shape));
  CHECK(found.linear == 3 * 12 * 32 * 32);
  // Biases: 3 h + h of attention, 4 h + h of the feed-forward part; two norms of 2 h; one at the
  // end.
  CHECK(found.total == 3 * (12 * 32 * 32 + 9 * 32 + 4 * 32) + 2 * 32);
}

TEST_CASE("The largest layer of a model with a large vocabulary is its embedding") {
  const auto mt5 = count_parameters(*find_preset("mt5-base"));
  CHECK(mt5.largest_layer == std::uint64_t{250112} * 768);
  CHECK(mt5.output == std::uint64_t{250112} * 768);
}
