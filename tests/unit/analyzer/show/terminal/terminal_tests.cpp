// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/terminal/report.h"

#include <algorithm>
#include <string>

#include "analyzer/run/model/load.h"
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

}  // namespace

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
                "tried to allocate 135 MiB (PyTorch's message says 136 MiB, the segment for it)"));
  CHECK(first_line_of_oom(5_MiB, "").find("(PyTorch's message says 20 MiB,") != std::string::npos);
  CHECK(first_line_of_oom(512, "").find("(PyTorch's message says 2 MiB,") != std::string::npos);
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
  CHECK(text.find("\nevil?]0;title????\n") != std::string::npos);
}

TEST_CASE(
    "GIVEN how it was recorded WHEN rendered THEN what is missing because of it, and no more") {
  const auto text_of = [](const std::vector<std::pair<std::string, std::string>>& infos) {
    trace_builder trace;
    for (const auto& [key, value] : infos) trace.info(key, value);
    trace.device(0, 24_GiB, 23_GiB, "GPU").context(0, 0).alloc(a, 1_MiB, 0);
    return terminal::to_text(load_bytes(trace.bytes()), {});
  };
  const std::string whole = "agent optimizer_hooks autograd census";
  const auto told = [](const std::string& text, const char* what) {
    return text.find(what) != std::string::npos;
  };
  SECTION("an older trace") {
    CHECK_FALSE(told(text_of({}), "MEMTRACE="));
  }
  SECTION("standard") {
    CHECK_FALSE(told(text_of({{"mode", "standard"}, {"capabilities", whole}}), "MEMTRACE="));
  }
  SECTION("minimal") {
    const auto text = text_of({{"mode", "minimal"}, {"capabilities", "python_stacks"}});
    CHECK(told(text, "Recorded with MEMTRACE=minimal, without the names of modules"));
    CHECK_FALSE(told(text, "categories are guesses"));
  }
  SECTION("minimal with an agent of its own") {
    const auto text = text_of({{"mode", "minimal"}, {"capabilities", "agent"}, {"agent", "on"}});
    CHECK_FALSE(told(text, "Recorded with"));
  }
  SECTION("some were refused") {
    const auto text = text_of({{"mode", "standard"},
                               {"capabilities", whole + " nvml allocator_methods"},
                               {"refused", "nvml: there \x1b is none"},
                               {"refused", "something that comes later"},
                               {"refused", "autograd: its hook never fired"}});
    CHECK(told(text, "Not recorded: what other processes hold on the device (there ? is none)"));
    CHECK(told(text, "Not recorded: what is saved for backward"));
    CHECK_FALSE(told(text, "something that comes later"));
  }
  SECTION("a mode that nobody knows") {
    CHECK_FALSE(told(text_of({{"mode", "everything"}, {"capabilities", ""}}), "everything"));
  }
}
