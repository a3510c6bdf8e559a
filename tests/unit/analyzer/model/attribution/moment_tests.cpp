// SPDX-License-Identifier: Apache-2.0
//
// The blocks of each moment, against sets kept from the whole list of events.
#include <map>
#include <random>
#include <vector>

#include "analyzer/model/attribution/attributor.h"
#include "analyzer/trace/reader/dictionary.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using attribution::phase;

namespace {

using block_set = std::map<std::uint64_t, std::uint64_t>;  // address, bytes

struct moment {
  std::uint64_t event = 0;
  std::uint64_t total = 0;
  block_set blocks;
};

struct expectation {
  moment peak;
  std::map<phase, moment> phases;
  std::map<std::uint64_t, block_set> after;  // each event
  std::map<phase, std::uint64_t> allocated;
};

[[nodiscard]] trace::scope scope_of(phase during) {
  trace::scope made;
  if (during == phase::forward) made.flags = format::scope_grad;
  if (during == phase::backward) made.flags = format::scope_backward;
  if (during == phase::forward) made.root = made.module = trace::object_id{1};
  if (during == phase::evaluation) made.root = made.module = trace::object_id{2};
  return made;
}

// Feeds an attributor with random events and remembers everything.
class random_run {
 public:
  random_run(std::uint32_t seed, attribution::attributor& to) : random_(seed), to_(to) {}

  [[nodiscard]] expectation feed(int count) {
    for (int i = 0; i < count; ++i) {
      if (!live_.empty() && random_() % 100 < 48) {
        free();
      } else {
        allocate();
      }
      expected_.after[number_++] = live_;
    }
    return expected_;
  }

 private:
  [[nodiscard]] trace::event head(phase during) const {
    trace::event made;
    made.number = number_;
    made.time_ns = number_ * 10;
    made.scope = scope_of(during);
    return made;
  }

  void free() {
    auto victim = live_.begin();
    std::advance(victim, static_cast<std::ptrdiff_t>(random_() % live_.size()));
    trace::allocator_event record;
    record.kind = format::kind::free_requested;
    record.address = victim->first;
    record.size = victim->second;
    to_.on_allocator(head(some_phase()), record);
    total_ -= victim->second;
    if (random_() % 2 == 0) to_.on_report(report_of(record, ~victim->second + 1));
    record.kind = format::kind::free_completed;
    to_.on_allocator(head(some_phase()), record);
    live_.erase(victim);
  }

  void allocate() {
    const auto during = some_phase();
    trace::allocator_event record;
    record.kind = format::kind::alloc;
    record.address = random_() % 64 * 8192 + 0x7f0000000000;
    if (live_.contains(record.address)) record.address += (number_ + 1) << 20;
    record.size = (random_() % 4 + 1) * 512;
    to_.on_allocator(head(during), record);
    const bool reported = random_() % 4 != 0;
    const auto bytes = record.size + (reported ? random_() % 2 * 512 : 0);
    total_ += bytes;
    live_[record.address] = bytes;
    if (reported) to_.on_report(report_of(record, bytes));
    expected_.allocated[during] += bytes;
    remember(expected_.peak);
    remember(expected_.phases[during]);
  }

  [[nodiscard]] trace::report_event report_of(const trace::allocator_event& record,
                                              std::uint64_t bytes) const {
    trace::report_event made;
    made.address = record.address;
    made.block_bytes = static_cast<std::int64_t>(bytes);
    made.allocated = total_;
    return made;
  }

  void remember(moment& highest) const {
    if (total_ > highest.total) highest = {number_, total_, live_};
  }

  [[nodiscard]] phase some_phase() {
    constexpr phase all[] = {phase::forward, phase::backward, phase::evaluation};
    return all[random_() % 3];
  }

  std::mt19937 random_;
  attribution::attributor& to_;
  std::uint64_t number_ = 0;
  std::uint64_t total_ = 0;
  block_set live_;
  expectation expected_;
};

[[nodiscard]] block_set blocks_of(const attribution::composition& found) {
  block_set blocks;
  for (const auto& block : found.blocks) blocks[block.address] = block.bytes;
  return blocks;
}

void check_sums(const attribution::composition& found) {
  std::uint64_t groups = 0;
  for (const auto& group : found.groups) groups += group.held.bytes;
  std::uint64_t modules = 0;
  for (const auto& row : found.modules) modules += row.total;
  std::uint64_t categories = 0;
  std::uint64_t evidence = 0;
  for (std::size_t i = 0; i < attribution::category_count; ++i) {
    categories += found.categories.values[i].bytes;
    for (const auto bytes : found.evidence_bytes.values[i].values) evidence += bytes;
  }
  CHECK(groups == found.total);
  CHECK(modules == found.total);
  CHECK(categories == found.total);
  CHECK(evidence == found.total);
}

[[nodiscard]] std::uint64_t sum_of(const block_set& blocks) {
  std::uint64_t sum = 0;
  for (const auto& [address, bytes] : blocks) sum += bytes;
  return sum;
}

void check_run(std::uint32_t seed) {
  const trace::dictionary names;
  replay::replayer replayed(names);
  attribution::options wanted;
  wanted.keep_blocks = true;
  wanted.at = seed % 390;
  attribution::attributor attributor(names, replayed, wanted);
  const auto expected = random_run(seed, attributor).feed(400);
  const auto result = attributor.finish();
  const auto& device = result.devices.at(0);
  REQUIRE(device.at_peak.event == expected.peak.event);
  REQUIRE(device.at_peak.total == expected.peak.total);
  REQUIRE(device.at_peak.total == replayed.device(0)->allocator.peak_allocated().totals.allocated);
  REQUIRE(blocks_of(device.at_peak) == expected.peak.blocks);
  REQUIRE(blocks_of(device.at) == expected.after.at(*wanted.at));
  check_sums(device.at_peak);
  check_sums(device.at);
  for (const auto& [during, highest] : expected.phases) {
    const auto& found = device.phases[during];
    REQUIRE(found.seen);
    REQUIRE(found.allocated == expected.allocated.at(during));
    REQUIRE(found.at_peak.event == highest.event);
    REQUIRE(found.at_peak.total == highest.total);
    REQUIRE(found.at_peak.total - found.at_peak.unrecorded == sum_of(highest.blocks));
    check_sums(found.at_peak);
  }
}

}  // namespace

TEST_CASE(
    "GIVEN random events WHEN attributed THEN each moment has exactly the blocks alive then") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) check_run(seed);
}
