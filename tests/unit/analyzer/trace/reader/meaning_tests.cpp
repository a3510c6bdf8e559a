// SPDX-License-Identifier: Apache-2.0
//
// The skippable records, as the reader delivers them.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/trace/reader/reader.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;
using namespace memtrace::test;

namespace {

constexpr std::uint64_t a = 0x7f0000000000;

class meaning_list final : public trace::record_visitor {
 public:
  void on_allocator(const trace::event& head, const trace::allocator_event&) override {
    allocations.push_back(head);
  }
  void on_object(trace::object_id id, std::uint64_t address) override {
    objects.emplace_back(id.value, address);
  }
  void on_module(const trace::event&, const trace::module_event& record) override {
    modules.push_back(record);
  }
  void on_storage(const trace::event& next, const trace::storage_event& record) override {
    storages.push_back(record);
    before.push_back(next.number);
  }
  void on_saved(const trace::event&, const trace::saved_event& record) override {
    saved.push_back(record);
  }
  void on_phase(const trace::event& head, const trace::phase_event& record) override {
    timed.push_back(head);
    phases.push_back(record);
  }
  void on_step(const trace::event& head, const trace::step_event& record) override {
    timed.push_back(head);
    steps.push_back(record);
  }
  void on_counter(const trace::event& head, const trace::counter_event& record) override {
    timed.push_back(head);
    counters.push_back(record);
  }

  std::vector<trace::event> allocations;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> objects;
  std::vector<trace::module_event> modules;
  std::vector<trace::storage_event> storages;
  std::vector<std::uint64_t> before;
  std::vector<trace::saved_event> saved;
  std::vector<trace::event> timed;
  std::vector<trace::phase_event> phases;
  std::vector<trace::step_event> steps;
  std::vector<trace::counter_event> counters;
};

struct reading {
  explicit reading(const trace_builder& trace)
      : bytes(trace.bytes()), source(std::as_bytes(std::span(bytes))) {
    auto opened = trace::reader::open(source);
    facts = opened->read(seen);
    names = [reader = std::make_shared<trace::reader>(std::move(*opened))](trace::text_id text) {
      return std::string(reader->names()[text]);
    };
  }
  byte_vector bytes;
  trace::memory_source source;
  meaning_list seen;
  trace::completeness facts;
  std::function<std::string(trace::text_id)> names;
};

}  // namespace

TEST_CASE("GIVEN a scope WHEN events follow THEN they have it, and none after the next block") {
  trace_builder trace;
  const auto stack = trace.stack({{"train.py", 3, "main"}});
  const auto root = trace.object(0x1000);
  const auto layer = trace.object(0x2000);
  trace.scope({format::scope_grad, layer, root, 0, {}}).alloc(a, 512);
  trace.scope({format::scope_backward, layer, root, stack, "MmBackward0"}).alloc(a + 512, 512);
  trace.end_block().alloc(a + 1024, 512);
  const reading done(trace);
  REQUIRE(done.seen.allocations.size() == 3);
  const auto& forward = done.seen.allocations[0].scope;
  CHECK(forward.flags == format::scope_grad);
  CHECK(forward.module.value == layer);
  CHECK(forward.root.value == root);
  CHECK_FALSE(forward.forward);
  const auto& backward = done.seen.allocations[1].scope;
  CHECK(backward.in_backward());
  CHECK(backward.forward.value == stack);
  CHECK(done.names(backward.node) == "MmBackward0");
  const auto& afresh = done.seen.allocations[2].scope;
  CHECK(afresh.flags == 0);
  CHECK_FALSE(afresh.root);
  CHECK_FALSE(done.facts.damage);
}

TEST_CASE("GIVEN objects and their names WHEN read THEN ids count through the file") {
  trace_builder trace;
  const auto root = trace.object(0x1000);
  trace.end_block();
  const auto layer = trace.object(0x2000);
  trace.module(layer, root, "blocks.0", "Linear", format::module_training);
  const reading done(trace);
  CHECK(done.seen.objects ==
        std::vector<std::pair<std::uint32_t, std::uint64_t>>{{1, 0x1000}, {2, 0x2000}});
  REQUIRE(done.seen.modules.size() == 1);
  const auto& named = done.seen.modules[0];
  CHECK(named.object.value == 2);
  CHECK(named.root.value == 1);
  CHECK(done.names(named.path) == "blocks.0");
  CHECK(done.names(named.type) == "Linear");
  CHECK(named.flags == format::module_training);
}

TEST_CASE("GIVEN addresses in skippable records WHEN read THEN the next event's is right as well") {
  trace_builder trace;
  trace.alloc(a, 4096);
  trace.storage(format::storage_role::parameter, a, {4000, "w", "float32", 0, 1});
  trace.saved(a + 8192, {64, format::saved_leaf, 15, 4, 7, 9});
  trace.alloc(a + 4096, 512);
  const reading done(trace);
  REQUIRE(done.seen.storages.size() == 1);
  const auto& storage = done.seen.storages[0];
  CHECK(storage.role == format::storage_role::parameter);
  CHECK(storage.address == a);
  CHECK(storage.bytes == 4000);
  CHECK(done.names(storage.name) == "w");
  CHECK(done.names(storage.detail) == "float32");
  CHECK(storage.flags == format::storage_trainable);
  CHECK(done.seen.before[0] == 1);
  REQUIRE(done.seen.saved.size() == 1);
  const auto& saved = done.seen.saved[0];
  CHECK(saved.address == a + 8192);
  CHECK(saved.bytes == 64);
  CHECK(saved.flags == format::saved_leaf);
  CHECK(saved.scalar_type == 15);
  CHECK(saved.dimensions == 4);
  CHECK(saved.rows == 7);
  CHECK(saved.columns == 9);
  CHECK(done.seen.allocations.size() == 2);
  CHECK_FALSE(done.facts.damage);
}

TEST_CASE("GIVEN phases, steps and counters WHEN read THEN they are events with their numbers") {
  trace_builder trace;
  trace.alloc(a, 512);
  trace.phase(format::phase_action::begin, format::phase_source::user, 0, "warm-up");
  trace.step(format::step_source::optimizer, trace.object(0x10), "AdamW");
  trace.counter("loss", 0.25).alloc(a + 512, 512);
  const reading done(trace);
  REQUIRE(done.seen.timed.size() == 3);
  CHECK(done.seen.timed[0].number == 1);
  CHECK(done.seen.timed[2].number == 3);
  CHECK(done.seen.timed[1].time_ns - done.seen.timed[0].time_ns == trace_builder::step_ns);
  CHECK(done.seen.phases[0].source == format::phase_source::user);
  CHECK(done.names(done.seen.phases[0].name) == "warm-up");
  CHECK(done.seen.steps[0].object.value == 1);
  CHECK(done.names(done.seen.steps[0].name) == "AdamW");
  CHECK(done.seen.counters[0].value == 0.25);
  CHECK(done.seen.allocations[1].number == 4);
}

TEST_CASE("GIVEN a payload with more than is known WHEN read THEN the rest of it is skipped") {
  trace_builder trace;
  // step (29): source 1, object 0, name 0, and two bytes of a later version.
  trace.raw({29, 5, 1, 0, 0, 0xff, 0xff}).time().alloc(a, 512);
  const reading done(trace);
  REQUIRE(done.seen.steps.size() == 1);
  CHECK(done.seen.allocations.size() == 1);
  CHECK_FALSE(done.facts.damage);
}

TEST_CASE("GIVEN an id that nothing defined WHEN read THEN it is damage") {
  trace_builder trace;
  trace.alloc(a, 512).scope({format::scope_grad, 7, 0, 0, {}}).alloc(a + 512, 512);
  const reading done(trace);
  CHECK(done.facts.damage);
  CHECK(done.seen.allocations.size() == 1);
}

TEST_CASE("GIVEN a payload that ends early WHEN read THEN it is damage") {
  trace_builder trace;
  trace.raw({27, 2, 0, 0}).alloc(a, 512);  // saved (27): an address and bytes only
  const reading done(trace);
  CHECK(done.facts.damage);
  CHECK(done.seen.saved.empty());
}
