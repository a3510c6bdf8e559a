// SPDX-License-Identifier: Apache-2.0
//
// example_traces FOLDER: writes small traces of every sort a report can be made of.
// example_traces FOLDER N: one large trace of about N events, for measuring the reader.
// example_traces FOLDER N SITES: one of N events from so many lines of a program, of which three
// leak: for measuring verdicts.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/unit/support/trace_builder.h"

namespace {

using namespace memtrace;
using namespace memtrace::test;

constexpr std::uint64_t base = 0x7f0000000000;

void save(const std::string& folder, const char* name, const byte_vector& bytes) {
  const auto path = folder + "/" + name;
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
      std::fclose(file) != 0) {
    std::perror(path.c_str());
    std::exit(1);
  }
}

[[nodiscard]] std::vector<test_frame> stack_to(const std::string& function, std::uint64_t line) {
  std::vector<test_frame> frames = {{"/srv/ada/train.py", 88, "main"},
                                    {"/srv/ada/model.py", line, function}};
  const std::string torch = "/venv/lib/python3.11/site-packages/torch/nn/modules/";
  for (std::uint64_t i = 0; i < 12; ++i) {
    frames.push_back({torch + "module.py", 1700 + i, "Module._call_impl"});
  }
  frames.push_back({torch + "linear.py", 134, "Linear.forward"});
  return frames;
}

void describe_run(trace_builder& trace) {
  using namespace memtrace::format;
  trace.info(info_key::command, std::string("python\0train.py\0--batch\0", 24) + "16")
      .info(info_key::host, "node1")
      .info(info_key::rank, "0")
      .info(info_key::world_size, "2")
      .info(info_key::torch, "2.11.0+cu130")
      .info(info_key::cuda_runtime, "13000")
      .info(info_key::python, "3.11.7")
      .info(info_key::simulated, "rtx3090")
      .info(info_key::python_stacks, "on")
      .device(0, 24259_MiB, 23900_MiB, "NVIDIA GeForce RTX 3090");
}

[[nodiscard]] trace_builder training(bool runs_out) {
  trace_builder trace;
  describe_run(trace);
  const auto forward = trace.stack(stack_to("Block.forward", 31));
  const auto loss = trace.stack(stack_to("Model.loss", 52));
  trace.context(0, trace.thread(4711, "python"));
  trace.cuda_call("cudaMalloc", base, 64_MiB).segment(base, 64_MiB);
  trace.alloc(base, 20_MiB, forward).alloc(base + 20_MiB, 10_MiB, loss).free(base + 20_MiB);
  trace.context(0, trace.thread(4712, "pt_autograd_0"));
  trace.alloc(base + 20_MiB, 8_MiB);
  if (runs_out) {
    trace.context(0, 1).cuda_call("cudaMalloc", 0, 23_GiB, format::call_failed, 2);
    trace.oom(200_MiB, 23_GiB, forward);
  }
  return trace;
}

// A step of a model with names: every record of meaning once at least.
[[nodiscard]] trace_builder named() {
  using format::phase_action;
  using format::phase_source;
  using format::storage_role;
  trace_builder trace;
  describe_run(trace);
  trace.info(format::info_key::agent, "on").info(format::info_key::autograd, "on");
  const auto line = trace.stack(stack_to("Block.forward", 31));
  const auto root = trace.object(0x1000);
  const auto block = trace.object(0x2000);
  const auto optimizer = trace.object(0x3000);
  trace.segment(base, 64_MiB).scope({format::scope_grad, 0, 0, 0, {}});
  trace.alloc(base, 8_MiB).alloc(base + 8_MiB, 1_MiB);
  trace.storage(storage_role::host_copy, base + 8_MiB);
  trace.scope({format::scope_grad, block, root, 0, {}});
  trace.module(root, root, "", "Model").module(block, root, "block", "Block");
  trace.storage(storage_role::parameter, base, {8_MiB, "block.weight", "float32", root, 1});
  trace.alloc(base + 16_MiB, 4_MiB, line);
  trace.saved(base + 16_MiB, {4_MiB, format::saved_requires_grad, 6, 3, 64, 64});
  trace.phase(phase_action::begin, phase_source::backward);
  trace.scope({format::scope_backward, block, root, line, "SoftmaxBackward0"});
  trace.alloc(base + 24_MiB, 8_MiB);
  trace.storage(storage_role::leaf_gradient, base + 24_MiB, {base});
  trace.free(base + 16_MiB).phase(phase_action::end, phase_source::backward);
  trace.phase(phase_action::begin, phase_source::optimizer_step, optimizer, "AdamW");
  trace.scope({format::scope_optimizer, 0, 0, 0, {}}).alloc(base + 32_MiB, 16_MiB);
  trace.storage(storage_role::optimizer_state, base + 32_MiB,
                {16_MiB, "block.weight", "exp_avg", optimizer});
  trace.phase(phase_action::end, phase_source::optimizer_step, optimizer, "AdamW");
  trace.step(format::step_source::optimizer, optimizer, "AdamW").counter("loss", 0.5);
  return trace;
}

// Training steps: forward allocates, backward frees in reverse order.
void large(const std::string& folder, std::uint64_t events) {
  trace_builder trace;
  describe_run(trace);
  std::vector<std::uint64_t> stacks;
  for (std::uint64_t i = 0; i < 400; ++i) {
    stacks.push_back(trace.stack(stack_to("Block.forward", i)));
    if (i % 10 == 9) trace.end_block();
  }
  trace.segment(base, 20_GiB);
  constexpr std::uint64_t blocks = 1000;
  while (trace.events() < events) {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const auto size = (i % 7 + 1) * 512_KiB - i % 3 * 100;
      trace.alloc(base + i * 4_MiB, size, stacks[i % stacks.size()]);
      if (i % 250 == 249) trace.end_block();
    }
    for (std::uint64_t i = blocks; i-- > 0;) {
      trace.free(base + i * 4_MiB);
      if (i % 125 == 0) trace.end_block();
    }
  }
  save(folder, "large.mtrace", trace.clean_exit());
}

// A program with many lines that allocate; each step passes through 3,333 of them, line after line.
// Line 0 keeps 512 bytes a step, line 1 64 KiB a step, line 2 1 MiB each 50 steps; the other lines
// free what they allocate, those of every hundredth in the next step.
void many_sites(const std::string& folder, std::uint64_t events, std::uint64_t sites) {
  trace_builder trace;
  describe_run(trace);
  std::vector<std::uint64_t> stacks;
  for (std::uint64_t i = 0; i < sites; ++i) {
    stacks.push_back(trace.stack(
        {{"/srv/ada/train.py", 88, "main"},
         {"/srv/ada/model.py", i + 1, "Block.forward"},
         {"/venv/lib/python3.11/site-packages/torch/nn/functional.py", 100 + i % 7, "linear"}}));
    if (i % 50 == 49) trace.end_block();
  }
  const auto optimizer = trace.object(0x1000);
  trace.segment(base, 20_GiB);
  constexpr std::uint64_t blocks = 3'333;
  constexpr std::uint64_t kept_from = base + 16_GiB;
  std::uint64_t kept = kept_from;
  const auto keep = [&](std::uint64_t site, std::uint64_t bytes) {
    trace.alloc(kept, bytes, stacks[site]);
    kept += bytes;
  };
  const auto address_of = [](std::uint64_t i, std::uint64_t step) {
    return base + (i * 2 + step % 2) * 2_MiB;
  };
  const auto outlives_step = [](std::uint64_t site) { return site % 100 == 99; };
  for (std::uint64_t step = 0; trace.events() < events; ++step) {
    const auto site_of = [&](std::uint64_t i, std::uint64_t in) {
      return 3 + (in * blocks + i) % (sites - 3);
    };
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const auto site = site_of(i, step);
      trace.alloc(address_of(i, step), (site % 7 + 1) * 64_KiB - site % 3 * 100, stacks[site]);
      if (i % 250 == 249) trace.end_block();
    }
    for (std::uint64_t i = blocks; i-- > 0;) {
      if (!outlives_step(site_of(i, step))) trace.free(address_of(i, step));
      if (step != 0 && outlives_step(site_of(i, step - 1))) trace.free(address_of(i, step - 1));
      if (i % 125 == 0) trace.end_block();
    }
    keep(0, 512);
    keep(1, 64_KiB);
    if (step % 50 == 49) keep(2, 1_MiB);
    trace.step(format::step_source::optimizer, optimizer, "AdamW").end_block();
  }
  save(folder, "many_sites.mtrace", trace.clean_exit());
}

// What stands behind the escape: files whole, in parts, cut off, changed, growth that is expected,
// and records of versions to come.
[[nodiscard]] trace_builder with_sources() {
  trace_builder trace;
  describe_run(trace);
  const std::string digest(64, 'a');
  const std::string text =
      "import torch\n\nkept = []\nfor step in range(9):\n    kept.append(step)\n";
  trace.source("/srv/ada/model.py", text.substr(0, 30), {0, text.size(), 0, 7, digest});
  trace.segment(base, 20_MiB);
  trace.source("/srv/ada/model.py", text.substr(30), {0, text.size(), 30, 7, digest});
  trace.source("/srv/ada/train.py", "x = 1\n", {format::source_changed, 6, 0, 8, digest});
  trace.source("/srv/ada/large.py", "", {format::source_too_large, 900'000});
  trace.source("/srv/ada/gone.py", "", {format::source_unreadable});
  trace.source("/srv/ada/in_part.py", "begun", {0, 50});
  trace.expectation("self.kept", "plotted at the end", "/srv/ada/train.py", 3);
  trace.expectation("self.kept", "plotted at the end", "/srv/ada/train.py", 4,
                    {format::expectation_object | format::expectation_tensor, "local of __init__",
                     "/srv/ada/model.py", 2, "Model"});
  trace.escaped(100, "of a later version").escaped(101, "").time();
  trace.alloc(base, 4_MiB, trace.stack(stack_to("Block.forward", 31)));
  return trace;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: example_traces FOLDER [EVENTS [SITES]]\n");
    return 2;
  }
  const std::string folder = argv[1];
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  if (argc > 3) {
    many_sites(folder, number(2), std::max(number(3), 4ULL));
    return 0;
  }
  if (argc > 2) {
    large(folder, number(2));
    return 0;
  }
  save(folder, "clean.mtrace", training(false).clean_exit());
  save(folder, "killed.mtrace", training(false).bytes());
  save(folder, "out_of_memory.mtrace", training(true).clean_exit());
  save(folder, "no_gpu_memory.mtrace", trace_builder().clean_exit());
  save(folder, "named.mtrace", named().clean_exit());
  auto went_on = training(true);
  went_on.alloc(base + 40_MiB, 4_MiB);
  save(folder, "caught.mtrace", went_on.clean_exit());
  auto cut = training(false).clean_exit();
  cut.resize(cut.size() - 60);
  save(folder, "truncated.mtrace", cut);
  auto damaged = training(false).end_block().alloc(base + 50_MiB, 1_MiB).clean_exit();
  damaged[damaged.size() - 60] ^= 0x40;
  save(folder, "damaged.mtrace", damaged);
  trace_builder reports;
  reports.reported(true, base, 4_MiB).reported(true, base + 4_MiB, 2_MiB);
  reports.reported(false, base, 4_MiB).message(1, "the trace tracker was not found");
  save(folder, "reports_only.mtrace", reports.clean_exit());
  save(folder, "sources.mtrace", with_sources().clean_exit());
  return 0;
}
