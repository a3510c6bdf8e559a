// SPDX-License-Identifier: Apache-2.0
//
// Traces of the profiler's written by hand, in the form in which prof.export_chrome_trace() does.
#include <zlib.h>

#include <string>
#include <vector>

#include "analyzer/model/snapshot/as_trace.h"
#include "analyzer/model/snapshot/json_input.h"
#include "analyzer/model/snapshot/profiler_contents.h"
#include "analyzer/model/snapshot/profiler_events.h"
#include "analyzer/trace/reader/reader.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::snapshot;

namespace {

[[nodiscard]] std::string memory(const std::string& time, std::uint64_t address, int bytes,
                                 int allocated, int reserved, int type = 1, int thread = 5) {
  return R"({"ph": "i", "name": "[memory]", "tid": )" + std::to_string(thread) + R"(, "ts": )" +
         time + R"(, "args": {"Total Reserved": )" + std::to_string(reserved) +
         R"(, "Total Allocated": )" + std::to_string(allocated) + R"(, "Bytes": )" +
         std::to_string(bytes) + R"(, "Device Id": 0, "Device Type": )" + std::to_string(type) +
         R"(, "Addr": )" + std::to_string(address) + "}}";
}

[[nodiscard]] std::string trace_of(const std::string& events) {
  return R"(
  {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Card", "totalGlobalMem": 99}],
   "distributedInfo": {"rank": 3, "world_size": 4}, "baseTimeNanoseconds": 7000,
   "traceEvents": [)" +
         events + R"(], "traceName": "x"})";
}

[[nodiscard]] trace::status read(const std::string& json, profiler_contents& to) {
  trace::memory_source source(std::as_bytes(std::span(json)));
  return read_profiler_trace(source, to);
}

[[nodiscard]] std::string refusal(const std::string& json) {
  trace::memory_source source(std::as_bytes(std::span(json)));
  CHECK(is_one(source));
  const auto made = as_trace(source);
  REQUIRE_FALSE(made);
  return const_cast<trace::result<std::unique_ptr<spill_file>>&>(made).failure().message;
}

[[nodiscard]] std::string packed(const std::string& text) {
  std::string made(compressBound(static_cast<uLong>(text.size())) + 64, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  auto from = text;
  stream.next_in = reinterpret_cast<Bytef*>(from.data());
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(made.data());
  stream.avail_out = static_cast<uInt>(made.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  made.resize(made.size() - stream.avail_out);
  deflateEnd(&stream);
  return made;
}

struct told final : trace::record_visitor {
  struct row {
    bool is_alloc;
    std::uint64_t address, bytes, time_ns;
  };
  std::vector<row> blocks;
  std::vector<trace::report_event> reports;
  std::vector<std::pair<std::string, std::string>> infos;
  int steps = 0;
  void on_info(std::string_view key, std::string_view value) override {
    infos.emplace_back(key, value);
  }
  void on_reported(const trace::event& head, const trace::reported_event& one) override {
    blocks.push_back({one.is_alloc, one.address, one.block_bytes, head.time_ns});
  }
  void on_report(const trace::report_event& one) override { reports.push_back(one); }
  void on_step(const trace::event&, const trace::step_event&) override { ++steps; }
  [[nodiscard]] std::string info(std::string_view key) const {
    for (const auto& [name, value] : infos) {
      if (name == key) return value;
    }
    return "absent";
  }
};

[[nodiscard]] told made_of(const std::string& json) {
  trace::memory_source source(std::as_bytes(std::span(json)));
  auto made = as_trace(source);
  REQUIRE(made);
  auto reader = trace::reader::open(**made);
  REQUIRE(reader);
  told found;
  const auto facts = reader->read(found);
  CHECK(facts.clean_exit);
  return found;
}

const std::string three = memory("20.5", 1024, -512, 0, 2048) + "," +  // not by time
                          memory("10.25", 1024, 512, 512, 2048) + "," + memory("15", 9, 8, 8, 0, 0);

}  // namespace

TEST_CASE("what memory needs of a profiler's trace is kept, the rest is not") {
  profiler_contents found;
  REQUIRE_FALSE(read(trace_of(three), found));
  REQUIRE(found.events.size() == 2);
  CHECK(found.events[0].time_ns == 20500);
  CHECK(found.events[0].bytes == -512);
  CHECK(found.events[1].address == 1024);
  CHECK(found.events[1].reserved == 2048);
  CHECK(found.others == 1);
  CHECK(found.devices[0].name == "Card");
  CHECK(found.devices[0].total_bytes == 99);
  CHECK(found.rank == 3);
  CHECK(found.base_ns == 7000);
}

TEST_CASE("a profiler's events become records by time, with its totals, packed or not") {
  for (const auto& json : {trace_of(three), packed(trace_of(three))}) {
    const auto found = made_of(json);
    REQUIRE(found.blocks.size() == 2);
    CHECK(found.blocks[0].is_alloc);
    CHECK_FALSE(found.blocks[1].is_alloc);
    CHECK(found.blocks[1].bytes == 512);
    CHECK(found.blocks[1].time_ns - found.blocks[0].time_ns == 10000);
    REQUIRE(found.reports.size() == 2);
    CHECK(found.reports[0].allocated == 512);
    CHECK(found.reports[1].reserved == 2048);
    CHECK(found.info("source") == "profiler_trace");
    CHECK(found.info("snapshot_history") == "whole");
    CHECK(found.info("snapshot_end") == "equal");
  }
}

TEST_CASE("what a profiler did not see allocated was there before it began") {
  const auto found = made_of(
      trace_of(memory("1", 512, 1024, 5120, 8192) + "," + memory("2", 4096, -2048, 3072, 8192)));
  REQUIRE(found.blocks.size() == 3);
  CHECK(found.blocks[0].is_alloc);
  CHECK(found.blocks[0].address == 4096);
  CHECK(found.reports[0].allocated == 4096);
  CHECK(found.info("snapshot_history") == "late");
  CHECK(found.info("snapshot_held") == "4096");
  CHECK(found.info("snapshot_contradictions") == "0");
}

TEST_CASE("totals that do not follow from each other are told") {
  const auto found = made_of(
      trace_of(memory("1", 512, 512, 512, 4096) + "," + memory("2", 1024, 512, 4096, 4096)));
  CHECK(found.info("snapshot_contradictions") == "1");
  CHECK(found.info("snapshot_end") == "different");
}

TEST_CASE("ProfilerStep marks the steps, and an optimizer where there is none") {
  const auto mark = [](const std::string& name, const std::string& time) {
    return R"(,{"ph": "X", "cat": "user_annotation", "tid": 5, "name": ")" + name + R"(", "ts": )" +
           time + R"(, "dur": 2})";
  };
  const auto optimizer =
      mark("Optimizer.step#SGD.step", "12") + mark("Optimizer.step#SGD.step", "17");
  CHECK(made_of(trace_of(three + optimizer)).steps == 2);
  CHECK(made_of(trace_of(three + optimizer + mark("ProfilerStep#0", "16"))).steps == 1);
}

TEST_CASE("times keep their nanoseconds") {
  CHECK(nanoseconds_of("1790857026000000.123") == 1790857026000000123u);
  CHECK(nanoseconds_of("5") == 5000u);
  CHECK(nanoseconds_of("5.07") == 5070u);
  CHECK_FALSE(nanoseconds_of("1e300"));
  CHECK_FALSE(nanoseconds_of("-1.5"));
  CHECK_FALSE(nanoseconds_of("99999999999999999999.5"));
}

TEST_CASE("a profiler's trace that is cut off anywhere is refused in a sentence") {
  const auto whole = trace_of(three);
  const auto last = whole.rfind('}');
  for (std::size_t end = whole.find('{') + 1; end <= last; ++end) {
    CHECK(refusal(whole.substr(0, end)).find("is JSON that is cut off") == 0);
  }
  const auto small = packed(whole);
  CHECK(refusal(small.substr(0, small.size() / 2)).find("cut off") != std::string::npos);
  auto damaged = packed(trace_of(three + std::string(100000, ' ')));
  for (std::size_t i = 60; i < 90; ++i) damaged[i] = '\x55';
  CHECK_FALSE(refusal(damaged).empty());
}

TEST_CASE("hostile JSON is refused, or what it says is left out") {
  CHECK(refusal(std::string(200000, '[')).find("cut off") != std::string::npos);
  std::string deep;
  for (int i = 0; i < 200000; ++i) deep += "{\"a\":";
  CHECK(refusal(deep).find("cut off") != std::string::npos);
  CHECK(refusal("{\"traceEvents\": [}").find("no proper JSON") != std::string::npos);
  const std::string longest(json_input::longest_token + (1 << 20), 'x');
  CHECK(refusal("{\"a\": \"" + longest + "\"}").find("a text of more than 16 MiB") !=
        std::string::npos);
  // An enormous text packs into little.
  CHECK(refusal(packed("{\"a\": \"" + longest + "\"}")).find("a text of more than") !=
        std::string::npos);

  profiler_contents found;
  const std::string odd =
      R"({"name": "[memory]", "ts": -1, "args": {"Device Type": 1, "Addr": 1e99}},
         {"name": "[memory]", "ts": "x", "args": [1, {"Bytes": 5}]},
         {"name": "[memory]", "ts": 1, "args": {"Device Type": 1, "Device Id": 4000000000,
          "Addr": 1, "Bytes": 18446744073709551615, "Total Allocated": 1, "Total Reserved": 1}},
         {"name": "[memory]", "ts": 1, "args": {"Device Type": 1, "Device Id": 0, "Addr": 1,
          "Bytes": -9223372036854775808, "Total Allocated": 1, "Total Reserved": 1}}, 7, null)";
  REQUIRE(read(trace_of(odd), found));
  CHECK(found.events.empty());
  CHECK(found.skipped == 4);
}

TEST_CASE("other JSON is refused with what it is") {
  CHECK(refusal("[[1, 2], [[0, 3]]]").find("is a memory timeline") == 0);
  CHECK(refusal("[[1, 2, 512, 0], [2, 3, 512, 1]]").find("is a memory timeline") == 0);
  CHECK(refusal("{\"weights\": [1.5, null, true]}").find("is JSON, but no trace") == 0);
  CHECK(refusal("[{\"a\": 1}]").find("is JSON, but no trace") == 0);
  CHECK(refusal("[]").find("is JSON, but no trace") == 0);
  CHECK(refusal(trace_of("")).find("without memory events") != std::string::npos);
  CHECK(refusal(trace_of(memory("1", 1, 8, 8, 0, 0))).find("of the CPU only") != std::string::npos);
  CHECK(refusal(packed("weights")).find("is packed with gzip") == 0);
}
