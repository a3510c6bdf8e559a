// SPDX-License-Identifier: Apache-2.0
//
// Model states, against the figures in the papers that the formulas are from.
#include <algorithm>
#include <string_view>

#include "analyzer/model/estimate/estimate.h"
#include "tests/unit/catch.h"

using namespace memtrace::estimate;

namespace {

double bytes_of_term(const estimation& made, std::string_view id) {
  const auto found = std::find_if(made.terms.begin(), made.terms.end(),
                                  [id](const term& one) { return one.id == id; });
  return found == made.terms.end() ? 0 : found->bytes;
}

// Weights, gradients, copies and optimizer states, without temporaries.
double states_of(const plan& wanted) {
  const auto made = make_estimate(wanted);
  double sum = 0;
  for (const auto id : {"weights", "gradients", "master_weights", "optimizer_states"}) {
    sum += bytes_of_term(made, id);
  }
  return sum;
}

plan of_parameters(std::uint64_t number, precision how, const char* optimizer = "adamw") {
  plan wanted;
  wanted.parameters = number;
  wanted.how = how;
  wanted.optimizer = optimizer_named(optimizer);
  REQUIRE(wanted.optimizer != nullptr);
  REQUIRE(problem_with(wanted).empty());
  return wanted;
}

}  // namespace

TEST_CASE("Adam takes 16 bytes a parameter in 32 bits, and with a 32-bit copy beside 16") {
  // ZeRO, section 3.1: 2 + 2 + 12; in 32 bits 4 + 4 + 8.
  CHECK(states_of(of_parameters(1000, precision::fp32)) == 16'000);
  CHECK(states_of(of_parameters(1000, precision::master)) == 16'000);
  CHECK(states_of(of_parameters(1000, precision::half)) == 8'000);
  CHECK(states_of(of_parameters(1000, precision::amp)) == 16'000);
}

TEST_CASE("Sharded states are those of ZeRO's figure 1") {
  // 7.5 B parameters, 64 devices: 120 GB, 31.4 GB, 16.6 GB, 1.9 GB.
  auto wanted = of_parameters(7'500'000'000, precision::master);
  constexpr double gigabyte = 1e9;
  CHECK(states_of(wanted) / gigabyte == Approx(120));
  wanted.devices = 64;
  wanted.shard = sharding::zero1;
  CHECK(states_of(wanted) / gigabyte == Approx(31.4).margin(0.05));
  wanted.shard = sharding::zero2;
  CHECK(states_of(wanted) / gigabyte == Approx(16.6).margin(0.05));
  wanted.shard = sharding::zero3;
  CHECK(states_of(wanted) / gigabyte == Approx(1.9).margin(0.05));
}

TEST_CASE("Other optimizers keep what their papers say") {
  const auto states = [](const char* optimizer) {
    return bytes_of_term(make_estimate(of_parameters(1'000'000, precision::fp32, optimizer)),
                         "optimizer_states");
  };
  CHECK(states("sgd") == 0);
  CHECK(states("sgd-momentum") == 4'000'000);
  CHECK(states("lion") == 4'000'000);
  CHECK(states("adamw-8bit") == 2'031'250);  // 2 × (1 + 4 / 256)
  CHECK(states("lion-8bit") == 1'015'625);
  CHECK(states("amsgrad") == 12'000'000);
  // A matrix of n × m keeps n + m numbers (Adafactor, section 3).
  CHECK(state_bytes(*optimizer_named("adafactor"), 50257.0 * 768, 4, 50257 + 768) == 4 * 51025);
}

TEST_CASE("Classes of optimizers are known by name") {
  CHECK(optimizer_of_class("AdamW") == optimizer_named("adamw"));
  CHECK(optimizer_of_class("PagedAdamW8bit") == optimizer_named("adamw-8bit"));
  CHECK(optimizer_of_class("Adam8") == nullptr);
  CHECK(optimizer_of_class("") == nullptr);
}

TEST_CASE("The foreach form of Adam needs the weights' size once more in its step") {
  const auto made = make_estimate(of_parameters(1'000'000, precision::fp32));
  CHECK(bytes_of_term(made, "optimizer_temporaries") == 4'000'000);
  CHECK(made.step - made.end == 4'000'000);
  const auto fused = make_estimate(of_parameters(1'000'000, precision::fp32, "adamw-fused"));
  CHECK(bytes_of_term(fused, "optimizer_temporaries") == 0);
}

TEST_CASE("Adapters are as many as in LoRA's table 4") {
  // GPT-3: 96 layers of 12288, rank 8 at q and v: 37.7 M.
  plan wanted;
  model_shape gpt3;
  gpt3.layers = 96;
  gpt3.hidden = 12288;
  gpt3.heads = 96;
  wanted.shape = completed(gpt3);
  wanted.lora.rank = 8;
  wanted.how = precision::half;
  const auto made = make_estimate(wanted);
  CHECK(made.trained == 37'748'736);
  CHECK(bytes_of_term(made, "optimizer_states") == 8.0 * 37'748'736);
  CHECK(bytes_of_term(made, "gradients") == 4.0 * 37'748'736);
  // The frozen weights, in 4.127 bits each (QLoRA, section 3) without embedding, norms and biases.
  wanted.lora.quantized = true;
  const double matrices = 96 * 12.0 * 12288 * 12288;
  CHECK(bytes_of_term(make_estimate(wanted), "quantized_weights") == Approx(matrices * 4.127 / 8));
}
