// SPDX-License-Identifier: Apache-2.0
//
// What a person reads: whose code a frame is, sizes, lines that fit.
#include <string>

#include "analyzer/code/frames.h"
#include "analyzer/code/places.h"
#include "analyzer/run/load.h"
#include "analyzer/run/user_lines.h"
#include "analyzer/terminal/report.h"
#include "analyzer/text/page.h"
#include "analyzer/text/units.h"
#include "analyzer/text/utf8.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;

[[nodiscard]] run::run_report load_bytes(const byte_vector& bytes) {
  trace::memory_source source(std::as_bytes(std::span(bytes)));
  auto reader = trace::reader::open(source);
  return {run::load("run.mtrace", *reader)};
}

[[nodiscard]] std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

[[nodiscard]] run::call_site site_at(std::vector<code::source_frame> frames, std::uint64_t bytes) {
  run::call_site site;
  site.frames = std::move(frames);
  site.bytes = bytes;
  site.blocks = 1;
  return site;
}

}  // namespace

TEST_CASE("GIVEN files WHEN asked whose they are THEN libraries are told from the user's code") {
  for (const auto* mine : {"/srv/ada/train.py", "train.py", "src/model.py", "<stdin>", "<string>",
                           "<ipython-input-3-abc>", "/srv/python/train.py", "/srv/lib/train.py",
                           "/srv/python3.11/train.py", "/opt/pytorch/train.py"}) {
    CAPTURE(mine);
    CHECK(code::is_user_code(mine));
  }
  for (const auto* library :
       {"/venv/lib/python3.11/site-packages/torch/nn/functional.py",
        "/usr/lib/python3/dist-packages/numpy/core.py", "/usr/lib/python3.11/threading.py",
        "/opt/python/3.13/lib/python3.13t/runpy.py", "/usr/lib64/python3.9/runpy.py",
        "/opt/lib/python311.zip/runpy.py", "<frozen importlib._bootstrap>", "<eval_with_key>.3",
        "/tmp/torchinductor_ada/ab/cabc.py", ""}) {
    CAPTURE(library);
    CHECK_FALSE(code::is_user_code(library));
  }
}

TEST_CASE("GIVEN sizes, times and counts WHEN formatted THEN they are binary and say so") {
  CHECK(text::format_bytes(17) == "17 bytes");
  CHECK(text::format_bytes(1536) == "1.50 KiB");
  CHECK(text::format_bytes(24259_MiB) == "23.69 GiB");
  CHECK(text::format_bytes(~0ull) == "16.00 EiB");
  CHECK(text::format_seconds(3'420'000'000) == "3.42 s");
  CHECK(text::format_seconds(125'000'000'000) == "2 min 5 s");
  CHECK(text::format_count(0) == "0");
  CHECK(text::format_count(1234567) == "1,234,567");
}

TEST_CASE(
    "GIVEN text that is not UTF-8 WHEN written as JSON or to a terminal THEN it is harmless") {
  std::string json;
  text::append_json_string(json, "a\"\\\n\x01é\xff\xc0\xaf\xed\xa0\x80");
  CHECK(json ==
        "\"a\\\"\\\\\\u000a\\u0001é\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf"
        "\xbd\xef\xbf\xbd\"");
  CHECK(text::printable("red\x1b[31m\x7f\xc2\x9bx") == "red?[31m??x");
}

TEST_CASE("GIVEN a line WHEN cut THEN whole characters are counted") {
  CHECK(text::cut("héllo", 5) == "héllo");
  CHECK(text::cut("héllo", 4) == "hél…");
  CHECK(text::cut("abc", 1) == "…");
}

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
    "GIVEN more of everything than fits WHEN rendered THEN it is one screen, the rest counted") {
  trace_builder trace;
  for (std::uint64_t device = 0; device < 8; ++device) {
    trace.device(device, 80_GiB, 79_GiB, "GPU").context(device, 0);
    for (std::uint64_t line = 1; line < 40; ++line) {
      trace.alloc(a + line * 1_MiB, 1_MiB - line * 512,
                  trace.stack({{"train.py", line * 10 + device, "main"}}));
    }
    trace.end_block();
  }
  trace.message(1, "one").message(1, "two").message(1, "three").oom(1_MiB, 80_GiB);
  const auto processes = load_bytes(trace.bytes());
  const auto text = terminal::to_text(processes, {});
  CHECK(lines_in(text) == terminal::most_lines);
  CHECK(text.find("smaller") != std::string::npos);
  CHECK(text.find("Next: memtrace report run.mtrace") != std::string::npos);
  CHECK(text.find("Out of memory") != std::string::npos);
}

TEST_CASE("GIVEN a request of an odd size WHEN it failed THEN PyTorch's figure stands beside it") {
  const auto first_line_of_oom = [](std::uint64_t bytes, const std::string& settings) {
    trace_builder trace;
    trace.info("alloc_conf", settings).oom(1_MiB, bytes);
    const auto text = terminal::to_text(load_bytes(trace.bytes()), {});
    return text.substr(text.find("tried to allocate"), 80);
  };
  CHECK(first_line_of_oom(135_MiB, "")
            .starts_with(
                "tried to allocate 135.00 MiB (a segment of 136.00 MiB in PyTorch's message)"));
  CHECK(first_line_of_oom(5_MiB, "").find("(a segment of 20.00 MiB in") != std::string::npos);
  CHECK(first_line_of_oom(512, "").find("(a segment of 2.00 MiB in") != std::string::npos);
  CHECK(first_line_of_oom(64_MiB, "").find("segment") == std::string::npos);
  CHECK(first_line_of_oom(5_MiB, "large_segment_size_mb:32").find("segment") == std::string::npos);
}

TEST_CASE("GIVEN a style WHEN rendered THEN colour and width are as it says") {
  trace_builder trace;
  trace.info("command", "python train.py with a very long name of no use to anybody at all");
  const auto processes = load_bytes(trace.alloc(a, 512).bytes());
  CHECK(terminal::to_text(processes, {}).find('\x1b') == std::string::npos);
  CHECK(terminal::to_text(processes, {true, 0}).find("\x1b[1m") != std::string::npos);
  const auto narrow = terminal::to_text(processes, {false, 40});
  for (std::size_t at = 0; at < narrow.size();) {
    const auto end = narrow.find('\n', at);
    CHECK(end - at <= 42);  // … is three bytes
    at = end + 1;
  }
}

TEST_CASE("GIVEN a hostile command line WHEN rendered THEN no escape reaches the terminal") {
  trace_builder trace;
  trace.info("command", "evil\x1b]0;title\x07\n\n\n");
  const auto text = terminal::to_text(load_bytes(trace.alloc(a, 512).bytes()), {});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.rfind("evil?]0;title????\n", 0) == 0);
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
