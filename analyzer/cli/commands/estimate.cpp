// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/gpus/gpus.h"
#include "analyzer/base/text/utf8.h"
#include "analyzer/cli/commands/arguments.h"
#include "analyzer/cli/commands/command.h"
#include "analyzer/cli/help/page.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/cli/io/write_file.h"
#include "analyzer/model/estimate/estimate.h"
#include "analyzer/model/estimate/fit.h"

namespace memtrace::cli {

namespace {

struct estimate_options {
  std::string model, parameters, precision = "fp32", optimizer = "adamw", shard, lora_on = "qv";
  std::uint64_t layers = 0, decoder_layers = 0, hidden = 0, heads = 0, kv_heads = 0, vocabulary = 0;
  std::uint64_t feed_forward = 0, lora = 0, qlora = 0;
  std::uint64_t batch = 1, sequence = 0, decoder_sequence = 0;
  std::string attention = "fused";
  bool checkpointing = false, accumulates = false, no_logits = false;
  std::vector<std::string> gpus;
  std::string json;
};

struct misunderstood {
  std::string why;
};

[[nodiscard]] std::string shown(const std::string& text) {
  return text::printable(text);
}

// 770M, 1.2B, 60500000, 7b
[[nodiscard]] std::uint64_t parameters_in(const std::string& text) {
  const auto refuse = [&] {
    return misunderstood{fmt::format("--parameters {}: write 770M, 1.2B or 60506624", shown(text))};
  };
  double number = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || !std::isfinite(number) || number <= 0 || end - rest > 1) {
    throw refuse();
  }
  double unit = 1;
  if (rest != end) {
    constexpr std::string_view letters = "kKmMbBtT";
    constexpr double units[] = {1e3, 1e6, 1e9, 1e12};
    const auto place = letters.find(*rest);
    if (place == letters.npos) throw refuse();
    unit = units[place / 2];
  }
  if (number * unit < 1 || number * unit > 1e14) throw refuse();
  return static_cast<std::uint64_t>(std::llround(number * unit));
}

// zero1:8, zero3:4, fsdp:2, ddp:8
void read_sharding(const std::string& text, estimate::plan& wanted) {
  const auto colon = text.find(':');
  const auto kind = text.substr(0, colon);
  std::uint64_t devices = 0;
  if (colon != text.npos) {
    const auto* const end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data() + colon + 1, end, devices);
    if (failed != std::errc() || rest != end) devices = 0;
  }
  using estimate::sharding;
  wanted.devices = devices;
  if (kind == "zero1") {
    wanted.shard = sharding::zero1;
  } else if (kind == "zero2") {
    wanted.shard = sharding::zero2;
  } else if (kind == "zero3" || kind == "fsdp") {
    wanted.shard = sharding::zero3;
  } else {
    devices = 0;
  }
  if (devices == 0) {
    throw misunderstood{fmt::format(
        "--shard {}: write zero1:N, zero2:N, zero3:N or fsdp:N with N devices", shown(text))};
  }
}

template <class Rows>
[[nodiscard]] std::string names_of(const Rows& rows) {
  std::string list;
  for (const auto& row : rows) {
    if (!list.empty()) list += ", ";
    list += row.name;
  }
  return list;
}

template <class Rows>
[[nodiscard]] std::vector<std::string> listed(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

void read_shape(const estimate_options& given, estimate::plan& wanted) {
  if (!given.model.empty()) {
    wanted.model = given.model;
    wanted.shape = estimate::find_preset(given.model);
    if (!wanted.shape) {
      throw misunderstood{
          fmt::format("--model {}: none of {}; or say --layers, --hidden, --heads "
                      "and --vocabulary",
                      shown(given.model), names_of(estimate::presets()))};
    }
    if (given.layers + given.hidden + given.heads + given.vocabulary != 0) {
      throw misunderstood{
          "--model has its own layers, hidden size, heads and vocabulary; leave "
          "either out"};
    }
    return;
  }
  if (given.layers + given.hidden + given.heads + given.vocabulary + given.feed_forward == 0) {
    return;
  }
  estimate::model_shape shape;
  shape.layers = given.layers;
  shape.decoder_layers = given.decoder_layers;
  if (shape.decoder_layers != 0) shape.like = estimate::family::t5;
  shape.hidden = given.hidden;
  shape.heads = given.heads;
  shape.kv_heads = given.kv_heads;
  shape.feed_forward = given.feed_forward;
  shape.vocabulary = given.vocabulary;
  wanted.shape = estimate::completed(shape);
}

void read_adapters(const estimate_options& given, estimate::plan& wanted) {
  if (given.lora != 0 && given.qlora != 0) throw misunderstood{"--lora or --qlora, not both"};
  wanted.lora.rank = std::max(given.lora, given.qlora);
  wanted.lora.quantized = given.qlora != 0;
  using estimate::adapted;
  if (given.lora_on == "qv") return;
  if (given.lora_on == "attention") {
    wanted.lora.where = adapted::attention;
  } else if (given.lora_on == "all") {
    wanted.lora.where = adapted::all_linear;
  } else {
    throw misunderstood{
        fmt::format("--lora-on {}: choose qv, attention or all", shown(given.lora_on))};
  }
}

[[nodiscard]] estimate::plan plan_of(const estimate_options& given) {
  estimate::plan wanted;
  read_shape(given, wanted);
  if (!given.parameters.empty()) wanted.parameters = parameters_in(given.parameters);
  const auto how = estimate::precision_named(given.precision);
  if (!how) {
    throw misunderstood{fmt::format("--precision {}: choose fp32, amp, bf16, fp16 or master",
                                    shown(given.precision))};
  }
  wanted.how = *how;
  wanted.optimizer = estimate::optimizer_named(given.optimizer);
  if (wanted.optimizer == nullptr) {
    throw misunderstood{fmt::format("--optimizer {}: choose {}", shown(given.optimizer),
                                    names_of(estimate::optimizers()))};
  }
  read_adapters(given, wanted);
  if (!given.shard.empty()) read_sharding(given.shard, wanted);
  if (given.attention != "fused" && given.attention != "stored") {
    throw misunderstood{
        fmt::format("--attention {}: choose fused or stored", shown(given.attention))};
  }
  wanted.fused_attention = given.attention == "fused";
  wanted.batch = given.batch;
  wanted.sequence = given.sequence;
  wanted.decoder_sequence = given.decoder_sequence;
  wanted.checkpointing = given.checkpointing;
  wanted.accumulates = given.accumulates;
  wanted.logits = !given.no_logits;
  if (auto problem = estimate::problem_with(wanted); !problem.empty()) {
    throw misunderstood{std::move(problem)};
  }
  return wanted;
}

// Nothing after one sentence on stderr.
[[nodiscard]] std::optional<std::vector<estimate::gpu_fit>> fits_of(const estimate_options& given,
                                                                    const estimate::plan& wanted) {
  std::set<std::string_view> wanted_gpus;
  for (const auto& name : given.gpus) {
    const auto* const gpu = find_gpu(shown(name));
    if (gpu == nullptr) return std::nullopt;
    wanted_gpus.insert(gpu->key);
  }
  std::vector<estimate::gpu_fit> fits;
  for (const auto& gpu : known_gpus) {
    if (wanted_gpus.empty() || wanted_gpus.contains(gpu.key)) {
      fits.push_back(estimate::fit_on(wanted, gpu.key, gpu.total_bytes));
    }
  }
  return fits;
}

int show(const estimate_options& given) {
  if (given.gpus == std::vector<std::string>{"list"}) {
    gpus::print_gpus(stdout);
    return success;
  }
  try {
    const auto wanted = plan_of(given);
    const auto made = estimate::make_estimate(wanted);
    const auto fits = fits_of(given, wanted);
    if (!fits) return usage;
    bool written = true;
    if (!given.json.empty()) {
      written = write_all(given.json, estimate::to_json(wanted, made, *fits));
    }
    if (given.json != "-") {
      const auto text = estimate::to_text(wanted, made, *fits);
      written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && written;
      written = std::fflush(stdout) == 0 && written;
    }
    return written ? success : failure;
  } catch (const misunderstood& problem) {
    log::error("{}", problem.why);
    return usage;
  }
}

}  // namespace

action add_estimate(CLI::App& app) {
  const auto given = std::make_shared<estimate_options>();
  app.add_option("--model", given->model, "A published configuration: t5-large, gpt2, llama-2-7b …")
      ->type_name("NAME")
      ->check(help::known_values(listed(estimate::presets())));
  app.add_option("--parameters", given->parameters, "How many: 770M, 1.2B (default: the shape's)")
      ->type_name("N");
  app.add_option("--precision", given->precision, "How numbers are kept")
      ->type_name("NAME")
      ->check(help::known_values({"fp32", "amp", "bf16", "fp16", "master"}))
      ->capture_default_str();
  app.add_option("--optimizer", given->optimizer, "adamw, adamw-8bit, adafactor, sgd, lion …")
      ->type_name("NAME")
      ->check(help::known_values(listed(estimate::optimizers())))
      ->capture_default_str();
  app.add_option("--lora", given->lora, "Train adapters of this rank alone")->type_name("RANK");
  app.add_option("--qlora", given->qlora, "The same, with the frozen layers in 4 bits")
      ->type_name("RANK");
  app.add_option("--lora-on", given->lora_on, "Where the adapters are")
      ->type_name("LAYERS")
      ->check(help::known_values({"qv", "attention", "all"}))
      ->capture_default_str();
  app.add_option("--shard", given->shard, "zero1:N, zero2:N, zero3:N or fsdp:N")->type_name("HOW");
  app.add_option("--layers", given->layers, "Layers (of the encoder, with --decoder-layers)")
      ->type_name("N");
  app.add_option("--decoder-layers", given->decoder_layers, "Layers of a decoder, as in T5")
      ->type_name("N");
  app.add_option("--hidden", given->hidden, "Width of the model")->type_name("N");
  app.add_option("--heads", given->heads, "Attention heads")->type_name("N");
  app.add_option("--kv-heads", given->kv_heads, "Heads of keys and values (default: all)")
      ->type_name("N");
  app.add_option("--feed-forward", given->feed_forward, "Width inside (default 4 × hidden)")
      ->type_name("N");
  app.add_option("--vocabulary", given->vocabulary, "Words")->type_name("N");
  app.add_option("--batch", given->batch, "Sequences a step and device")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--sequence", given->sequence, "Tokens in each; without it no activations")
      ->type_name("N");
  app.add_option("--decoder-sequence", given->decoder_sequence, "Of the decoder (default: same)")
      ->type_name("N");
  app.add_option("--attention", given->attention, "fused: sdpa or flash; stored: eager")
      ->type_name("NAME")
      ->check(help::known_values({"fused", "stored"}))
      ->capture_default_str();
  app.add_flag("--checkpointing", given->checkpointing, "Every layer is computed again");
  app.add_flag("--accumulation", given->accumulates, "Gradients add up over several batches");
  app.add_flag("--no-logits", given->no_logits, "No loss over the vocabulary: a classifier");
  app.add_option("--gpu", given->gpus,
                 "GPUs to fit on (default: all that are known); list prints those")
      ->type_name("GPU")
      ->delimiter(',');
  add_json_option(app, given->json);
  return [given](const program&) { return show(*given); };
}

}  // namespace memtrace::cli
