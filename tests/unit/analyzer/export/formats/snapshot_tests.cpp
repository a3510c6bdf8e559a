// SPDX-License-Identifier: Apache-2.0
//
// Traces as no test program makes them: with events missing, without segments, of a second device
// only. What the viewer would do with the result is done here: undo each event from the end.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/export/formats/export_process.h"
#include "analyzer/export/formats/snapshot/snapshot.h"
#include "analyzer/trace/reader/reader.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/text_destination.h"
#include "tests/unit/support/trace_builder.h"
#include "tests/unit/support/unpickle.h"

using namespace memtrace;
using namespace memtrace::exporting;
using namespace memtrace::test;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;
constexpr std::uint64_t mib = 1u << 20;
constexpr auto map_range = format::kind::segment_map;
constexpr auto unmap_range = format::kind::segment_unmap;

[[nodiscard]] nlohmann::json snapshot_of(const byte_vector& bytes, std::size_t top = 0,
                                         const chosen& wanted = {}) {
  trace::memory_source source(std::as_bytes(std::span(bytes)));
  auto reader = trace::reader::open(source);
  REQUIRE(reader);
  text_destination to;
  options how;
  how.top = top;
  const auto made = make_snapshot(to, how);
  const auto done =
      export_process("made.mtrace", *reader, *made, wanted, {}, {}, [] { return false; });
  CHECK(done.problem.value_or("") == "");
  CHECK_FALSE(made->finish());
  return unpickled(to.written);
}

[[nodiscard]] trace_builder on_one_device(std::uint64_t device = 0) {
  trace_builder trace;
  trace.device(device, 24u << 20, 23u << 20, "a GPU");
  trace.context(device, trace.thread(1, "python"));
  return trace;
}

[[nodiscard]] std::vector<std::string> actions(const nlohmann::json& events) {
  std::vector<std::string> found;
  for (const auto& event : events) found.push_back(event.at("action"));
  return found;
}

// Throws where an event does not fit to what is there after it; what is left of blocks.
[[nodiscard]] std::map<std::uint64_t, std::string> undone(const nlohmann::json& snapshot,
                                                          unsigned device = 0) {
  std::map<std::uint64_t, std::string> blocks;
  std::map<std::uint64_t, std::uint64_t> segments;
  for (const auto& segment : snapshot.at("segments")) {
    if (segment.at("device") != device) continue;
    segments[segment.at("address")] = segment.at("total_size");
    std::uint64_t position = segment.at("address");
    for (const auto& block : segment.at("blocks")) {
      CHECK(block.at("address") == position);
      position += block.at("size").get<std::uint64_t>();
      if (block.at("state") != "inactive") blocks[block.at("address")] = block.at("state");
    }
    CHECK(position == segment.at("address").get<std::uint64_t>() +
                          segment.at("total_size").get<std::uint64_t>());
  }
  const auto& events = snapshot.at("device_traces").at(device);
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    const std::string action = event->at("action");
    const auto address = event->value("addr", std::uint64_t{0});
    if (action == "alloc") {
      CHECK(blocks.at(address) == "active_allocated");
      blocks.erase(address);
    } else if (action == "free_requested") {
      CHECK(blocks.at(address) == "active_pending_free");
      blocks[address] = "active_allocated";
    } else if (action == "free_completed") {
      CHECK(blocks.count(address) == 0);
      blocks[address] = "active_pending_free";
      const auto in = segments.upper_bound(address);
      REQUIRE(in != segments.begin());
      CHECK(address < std::prev(in)->first + std::prev(in)->second);
    } else if (action == "segment_alloc") {
      CHECK(segments.at(address) == event->at("size"));
      segments.erase(address);
    } else if (action == "segment_free") {
      segments[address] = event->at("size");
    }
  }
  return blocks;
}

}  // namespace

TEST_CASE("a free that was not recorded is made up, so that each block dies before the next") {
  auto trace = on_one_device();
  trace.segment(a, 2 * mib).alloc(a, 1000).alloc(a, 2000);
  trace.free(a);
  const auto found = snapshot_of(trace.clean_exit());
  CHECK(actions(found["device_traces"][0]) ==
        std::vector<std::string>{"segment_alloc", "alloc", "free_requested", "free_completed",
                                 "alloc", "free_requested", "free_completed"});
  CHECK(undone(found).empty());
}

TEST_CASE("a segment whose end was not recorded ends before the next one there") {
  auto trace = on_one_device();
  trace.segment(a, 2 * mib).segment(a, 20 * mib).alloc(a, 1000);
  const auto found = snapshot_of(trace.clean_exit());
  CHECK(actions(found["device_traces"][0]) ==
        std::vector<std::string>{"segment_alloc", "segment_free", "segment_alloc", "alloc"});
  CHECK(found["segments"].size() == 1);
  CHECK(undone(found).empty());
}

TEST_CASE("what was allocated before the recording began has a segment to be freed in") {
  auto trace = on_one_device();
  trace.record(format::kind::free_requested, a + 512, 1000);
  trace.record(format::kind::free_completed, a + 512, 1000);
  trace.record(format::kind::free_requested, a + 4096, 3000);
  const auto found = snapshot_of(trace.clean_exit());
  CHECK(found["segments"].size() == 2);
  CHECK(undone(found) == std::map<std::uint64_t, std::string>{{a + 512, "active_allocated"},
                                                              {a + 4096, "active_allocated"}});
}

TEST_CASE(
    "where only the allocator's reports were recorded, blocks make the segments, and frees are "
    "completed") {
  auto trace = on_one_device();
  trace.info(format::info_key::event_source, "reports");
  trace.reported(true, a, 1024).reported(true, a + 1024, 512).reported(false, a, 1024);
  const auto found = snapshot_of(trace.clean_exit());
  CHECK(actions(found["device_traces"][0]) ==
        std::vector<std::string>{"snapshot", "alloc", "alloc", "free_requested", "free_completed"});
  REQUIRE(found["segments"].size() == 1);
  CHECK(found["segments"][0]["total_size"] == 1536);
  CHECK(found["segments"][0]["allocated_size"] == 512);
  CHECK(undone(found).empty());
}

TEST_CASE("ranges of an expandable segment are one, and what is unmapped cuts it") {
  auto trace = on_one_device();
  trace.record(map_range, a, 20 * mib).record(map_range, a + 20 * mib, 20 * mib);
  trace.in_pool(0, 7).record(map_range, a + 40 * mib, 20 * mib);
  trace.in_pool(0, 0).record(unmap_range, a + 10 * mib, 10 * mib);
  const auto found = snapshot_of(trace.clean_exit())["segments"];
  REQUIRE(found.size() == 3);
  CHECK(found[0]["total_size"] == 10 * mib);
  CHECK(found[1]["address"] == a + 20 * mib);
  CHECK(found[1]["total_size"] == 20 * mib);
  CHECK(found[2]["segment_pool_id"] == nlohmann::json::array({0, 7}));
  for (const auto& segment : found) {
    CHECK(segment["is_expandable"] == true);
    CHECK(segment["segment_type"] == "large");
  }
}

TEST_CASE("a block that waits for a stream is active and not allocated") {
  auto trace = on_one_device();
  trace.segment(a, 2 * mib).alloc(a, 1000).alloc(a + 1024, 3000);
  trace.record(format::kind::free_requested, a, 1000);
  const auto found = snapshot_of(trace.clean_exit())["segments"][0];
  CHECK(found["allocated_size"] == 3072);
  CHECK(found["active_size"] == 4096);
  CHECK(found["requested_size"] == 4000);
  CHECK(found["segment_type"] == "small");
  CHECK(found["blocks"][0]["state"] == "active_pending_free");
  CHECK(found["blocks"][1]["state"] == "active_allocated");
  CHECK(found["blocks"][2]["state"] == "inactive");
}

TEST_CASE("running out of memory says what the device had, and has no address") {
  auto trace = on_one_device();
  trace.segment(a, 2 * mib).alloc(a, 1000).oom(5 * mib, 30 * mib);
  const auto found = snapshot_of(trace.clean_exit());
  const auto event = found["device_traces"][0].back();
  CHECK(event["action"] == "oom");
  CHECK(event["device_free"] == 5 * mib);
  CHECK(event["size"] == 30 * mib);
  CHECK_FALSE(event.contains("addr"));
}

TEST_CASE("devices without events have an empty list") {
  auto trace = on_one_device(2);
  trace.segment(a, 2 * mib).alloc(a, 1000);
  const auto found = snapshot_of(trace.clean_exit());
  REQUIRE(found["device_traces"].size() == 3);
  CHECK(found["device_traces"][0].empty());
  CHECK(found["device_traces"][1].empty());
  CHECK(found["segments"][0]["device"] == 2);
  CHECK(undone(found, 2).empty());
}

TEST_CASE("where no Python ran, the frames say what is known") {
  auto trace = on_one_device();
  const auto thread = trace.thread(2, "pt_autograd_0");
  const auto forward = trace.stack({{"train.py", 7, "main"}, {"model.py", 31, "forward"}});
  trace.segment(a, 2 * mib).alloc(a, 1000, forward);
  trace.context(0, thread);
  trace.scope({.flags = format::scope_backward, .forward = forward, .node = "MmBackward0"});
  trace.alloc(a + 1024, 1000);
  const auto events = snapshot_of(trace.clean_exit())["device_traces"][0];
  const auto stack = nlohmann::json::parse(
      R"([{"name": "forward", "filename": "model.py", "line": 31},
          {"name": "main", "filename": "train.py", "line": 7}])");
  CHECK(
      events[0]["frames"] ==
      nlohmann::json::parse(R"([{"name": "python", "filename": "<no Python frame>", "line": 0}])"));
  CHECK(events[1]["frames"] == stack);
  auto backward = stack;
  backward.insert(backward.begin(), nlohmann::json::parse(
                                        R"({"name": "MmBackward0", "filename": "<backward of>",
                                            "line": 0})"));
  CHECK(events[2]["frames"] == backward);
}

TEST_CASE("the last events come after the allocations of what lived before them") {
  auto trace = on_one_device();
  trace.segment(a, 2 * mib);
  for (unsigned i = 0; i < 4; ++i) trace.alloc(a + i * 1024, 1000 + i);
  trace.free(a + 1024);
  trace.record(format::kind::free_requested, a + 2048, 1002);
  trace.alloc(a + 1024, 500);
  trace.record(format::kind::free_completed, a + 2048, 1002);
  const auto found = snapshot_of(trace.clean_exit(), 2);
  const auto& events = found["device_traces"][0];
  // 1,001 was freed before; the first is the mark that names `unknown`.
  CHECK(actions(events) == std::vector<std::string>{"snapshot", "alloc", "alloc", "free_requested",
                                                    "alloc", "alloc", "free_completed"});
  CHECK(events[0]["category"] == "unknown");
  CHECK(events[1]["size"] == 1000);
  CHECK(events[2]["size"] == 1002);
  CHECK(events[4]["size"] == 1003);
  CHECK(undone(found).empty());
}

TEST_CASE("a window begins with what lives then") {
  auto trace = on_one_device();
  trace.segment(a, 2 * mib).alloc(a, 1000).alloc(a + 1024, 2000);
  trace.free(a);
  const auto from = trace.events();
  trace.alloc(a + 4096, 4000).free(a + 1024);
  chosen wanted;
  wanted.from.emplace().event = from;
  const auto found = snapshot_of(trace.clean_exit(), 0, wanted);
  const auto& events = found["device_traces"][0];
  CHECK(actions(events) == std::vector<std::string>{"segment_alloc", "alloc", "alloc",
                                                    "free_requested", "free_completed"});
  CHECK(events[0]["category"] == "unknown");
  CHECK(events[1]["size"] == 2000);
  CHECK(undone(found).empty());
  REQUIRE(found["segments"].size() == 1);
  CHECK(found["segments"][0]["allocated_size"] == 4096);
}

TEST_CASE("without an event of the allocator there is no snapshot, and it is said why") {
  auto trace = on_one_device();
  trace.cuda_call("cudaMalloc", a, mib);
  const auto bytes = trace.clean_exit();
  trace::memory_source source(std::as_bytes(std::span(bytes)));
  auto reader = trace::reader::open(source);
  REQUIRE(reader);
  text_destination to;
  const auto made = make_snapshot(to, {});
  (void)export_process("made.mtrace", *reader, *made, {}, {}, {}, [] { return false; });
  CHECK(made->finish().value_or("").find("caching allocator") != std::string::npos);
}

TEST_CASE("the settings are the latest that PyTorch took") {
  auto trace = on_one_device();
  trace.info(format::info_key::torch, "2.11.0");
  trace.info(format::info_key::alloc_conf, "max_split_size_mb:64");
  trace.segment(a, 2 * mib).alloc(a, 1000);
  auto found = snapshot_of(trace.clean_exit())["allocator_settings"];
  CHECK(found["PYTORCH_CUDA_ALLOC_CONF"] == "max_split_size_mb:64");
  CHECK(found["max_split_size"] == 64 * mib);
  CHECK(found["expandable_segments"] == false);
  CHECK(found["roundup_power2_divisions"]["32768"] == 0);
}
