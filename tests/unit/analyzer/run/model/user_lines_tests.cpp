// SPDX-License-Identifier: Apache-2.0
#include "analyzer/run/model/user_lines.h"

#include <string>

#include "analyzer/run/model/load.h"
#include "analyzer/trace/code/places.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

[[nodiscard]] run::call_site site_at(std::vector<code::source_frame> frames, std::uint64_t bytes) {
  run::call_site site;
  site.frames = std::move(frames);
  site.bytes = bytes;
  site.blocks = 1;
  return site;
}

constexpr std::uint64_t a = 0x7f0000000000;

[[nodiscard]] run::run_report load_bytes(const byte_vector& bytes) {
  trace::memory_source source(std::as_bytes(std::span(bytes)));
  auto reader = trace::reader::open(source);
  return {run::load("run.mtrace", *reader)};
}

}  // namespace

TEST_CASE("GIVEN call sites WHEN folded THEN the innermost user line holds their sum") {
  const code::source_frame library{"/venv/lib/python3.11/site-packages/torch/linear.py", 1, "f",
                                   false};
  const code::source_frame one{"/srv/a/model.py", 5, "Net.__init__.<locals>.make", true};
  const code::source_frame other{"/srv/b/model.py", 5, "forward", true};
  const code::source_frame main{"/srv/train.py", 9, "main", true};
  const auto lines =
      run::fold_to_user_lines({site_at({library, one, main}, 10), site_at({one, main}, 5),
                               site_at({other, main}, 3), site_at({library}, 2), site_at({}, 1)});
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].where == "a/model.py:5 make");
  CHECK(lines[0].bytes == 15);
  CHECK(lines[0].blocks == 2);
  CHECK(lines[0].via == "linear.py:1 f");
  CHECK(lines[1].where == "b/model.py:5 forward");
  CHECK(lines[2].where == "torch/linear.py:1 f (library code)");
  CHECK(lines[3].where == "no Python frame");
}

TEST_CASE("GIVEN a library's model WHEN folded THEN the row is its line, with the user's behind") {
  const std::string packages = "/venv/lib/python3.11/site-packages/";
  const code::source_frame torch{packages + "torch/nn/modules/linear.py", 134, "forward", false};
  const code::source_frame model{packages + "transformers/models/mt5/modeling_mt5.py", 96,
                                 "forward", false};
  const code::source_frame call{packages + "torch/nn/modules/module.py", 1775, "_call_impl", false};
  const code::source_frame trainer{packages + "transformers/trainer.py", 2000, "train", false};
  const code::source_frame main{"/srv/train.py", 9, "main", true};
  const auto inside = run::fold_to_user_lines({site_at({torch, model, call, trainer, main}, 8)});
  CHECK(inside[0].where == "modeling_mt5.py:96 forward");
  CHECK(inside[0].from == "train.py:9 main");
  const auto outside = run::fold_to_user_lines({site_at({torch, trainer, main}, 8)});
  CHECK(outside[0].where == "train.py:9 main");
  CHECK(outside[0].from.empty());
  CHECK(code::describe_place({torch, model, call, main}, {}) ==
        "modeling_mt5.py:96 forward from train.py:9 main");
}

TEST_CASE(
    "GIVEN more frames than a report may hold WHEN built THEN the smallest sites are one sum") {
  trace_builder trace;
  std::uint64_t total = 0;
  std::uint64_t parent = 0;
  const auto text = trace.text("deep.py");
  for (std::uint64_t depth = 1; depth <= 4000; ++depth) {
    parent = trace.define_stack(parent, trace.define_frame(text, text, depth));
    if (depth % 500 == 0) trace.end_block();
    if (depth <= 3200) continue;  // 800 sites of 3,201 to 4,000 frames
    trace.record(format::kind::alloc, a + depth * 8192, depth * 512, parent);
    total += depth * 512;
    if (depth % 100 == 0) trace.end_block();
  }
  const auto processes = load_bytes(trace.bytes());
  const auto& sites = processes[0].devices[0].at_peak.sites;
  CHECK(sites.size() < 400);
  CHECK(sites.front().bytes == 4000 * 512);
  CHECK(sites.back().frames.empty());
  CHECK(sites.back().sites == 800 - (sites.size() - 1));
  std::uint64_t sum = 0;
  for (const auto& site : sites) sum += site.bytes;
  CHECK(sum == total);
}
