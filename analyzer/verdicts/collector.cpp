// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/collector.h"

#include <algorithm>

namespace memtrace::verdicts {

device_lives& collector::at(std::uint32_t device) {
  if (latest_ == nullptr || latest_device_ != device) {
    auto& known = devices_[device];
    if (known == nullptr) {
      known = std::make_unique<device_lives>();
      known->restart(totals_of(device).allocated);
    }
    latest_ = known.get();
    latest_device_ = device;
  }
  return *latest_;
}

totals_now collector::totals_of(std::uint32_t device) const {
  totals_now now;
  const auto* const record = replayed_.device(device);
  if (record == nullptr) return now;
  const auto& allocator = record->allocator;
  now.allocated = allocator.allocated();
  now.reserved =
      allocator.segments().reserved() + static_cast<std::uint64_t>(allocator.reserved_difference());
  const auto from_driver = replayed_.driver().on_device(device);
  now.outside = from_driver - std::min(from_driver, now.reserved);
  return now;
}

void collector::before(const trace::event& head) {
  if (const auto* const record = replayed_.device(head.device)) {
    at(head.device).observe(record->allocator.allocated());
  }
  while (given_passed_ < given_.size() && given_[given_passed_] <= head.number) {
    end_step(given_[given_passed_++], head.time_ns);
  }
}

void collector::born(std::uint32_t device, const attribution::block_life& block) {
  at(device).born(sites_.of(block), block.bytes, clock_.now());
}

void collector::resized(std::uint32_t device, const attribution::block_life& block,
                        std::uint64_t difference) {
  at(device).resized(sites_.of(block), difference);
}

bool collector::ended(std::uint32_t device, const attribution::block_life& block,
                      const attribution::life_end& how) {
  if (!how.alive) {
    at(device).died(sites_.of(block), block.bytes, clock_.step_of(block.born_event));
  }
  return clock_.crossed(block.born_event);
}

void collector::judged(std::uint32_t device, const attribution::block_life& block,
                       const attribution::life_end&, const attribution::verdict& found) {
  auto& lives = at(device).at(sites_.of(block));
  const auto born = clock_.step_of(block.born_event);
  lives.outlived(block, found.what, born, clock_.now());
  categories_.lived(found.what, block.bytes, born, clock_.now());
}

void collector::end_step(std::uint64_t event, std::uint64_t time_ns) {
  const auto step = clock_.now();
  for (auto& [device, lives] : devices_) lives->end_step(step, totals_of(device));
  clock_.end_step(event, time_ns);
}

void collector::census(const trace::event& head, const trace::census_event& record) {
  kept_.census(head, record, clock_.now());
}

void collector::held(std::uint32_t device, const attribution::block_life* block,
                     const trace::storage_event& record) {
  kept_.held(device, block == nullptr ? UINT32_MAX : sites_.of(*block), block, record);
}

void collector::stepped(const trace::event& head, const trace::step_event& record) {
  if (record.source == format::step_source::user) {
    if (!by_user_ && clock_.now() != 0) {  // its own steps count, from the first on
      clock_.restart();
      categories_ = {};
      for (auto& [device, lives] : devices_) lives->restart(totals_of(device).allocated);
    }
    by_user_ = true;
    end_step(head.number, head.time_ns);
  } else if (!by_user_ && clock_.begins_round(record.object)) {
    end_step(head.number, head.time_ns);
  }
}

}  // namespace memtrace::verdicts
