// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/history/fates.h"

#include <algorithm>
#include <limits>

#include "analyzer/model/attribution/settled.h"

namespace memtrace::history {

namespace {

constexpr auto forever = std::numeric_limits<std::uint32_t>::max();

// Only what settling looks at, and what is reported: no address, size or time.
[[nodiscard]] attribution::kept_block kind_of(const attribution::block_life& block,
                                              const attribution::classification& found) {
  auto kind = attribution::keep(block, found);
  kind.address = 0;
  kind.bytes = 0;
  kind.born_event = 0;
  kind.saved = {};
  kind.found.until_backward = forever;
  return kind;
}

}  // namespace

std::size_t fate_collector::hasher::operator()(const attribution::kept_block& one) const {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  auto hash = attribution::hash_of(one.where);
  for (const std::uint64_t value :
       {one.name.value | std::uint64_t{one.detail.value} << 32,
        one.object.value | static_cast<std::uint64_t>(one.found.what) << 32 |
            static_cast<std::uint64_t>(one.found.how) << 40}) {
    hash = (hash ^ value) * odd;
    hash ^= hash >> 29;
  }
  return hash;
}

bool fate_collector::alike::operator()(const attribution::kept_block& one,
                                       const attribution::kept_block& other) const {
  return one.where == other.where && one.found.what == other.found.what &&
         one.found.how == other.found.how && one.found.guess == other.found.guess &&
         one.found.rule == other.found.rule && one.name == other.name &&
         one.detail == other.detail && one.object == other.object && one.named_by == other.named_by;
}

// Blocks tell how many have ended; where the program's own record says when, that is when.
void fate_collector::passed(std::uint64_t event, std::uint32_t backwards_ended) {
  auto& ends = made_.backwards_ended;
  if (backwards_ended <= (ends.empty() ? 0 : ends.back().second)) return;
  const bool is_told = backward_end_ < event && (ends.empty() || backward_end_ > ends.back().first);
  ends.emplace_back(is_told && backward_end_ != 0 ? backward_end_ : event, backwards_ended);
}

void fate_collector::phase_changed(const trace::event& head, const trace::phase_event& record) {
  if (record.source != format::phase_source::backward) return;
  if (record.action == format::phase_action::end) backward_end_ = head.number;
}

void fate_collector::born(std::uint32_t device, const attribution::block_life& block) {
  passed(block.born_event, block.born.passes.backwards_ended);
  auto& kinds = made_.devices[device].kinds;
  devices_[device].live.insert(block.address) = static_cast<std::uint32_t>(kinds.size());
  kinds.push_back(0);
}

void fate_collector::resized(std::uint32_t device, const attribution::block_life& block,
                             std::uint64_t difference) {
  if (difference == 0) return;
  const auto* const number = devices_[device].live.find(block.address);
  if (number == nullptr) return;
  auto& sizes = made_.devices[device].sizes;
  if (!sizes.empty() && sizes.back().first == *number) {
    sizes.back().second += difference;
  } else {
    sizes.emplace_back(*number, difference);
  }
}

void fate_collector::judged(std::uint32_t device, const attribution::block_life& block,
                            const attribution::life_end& how,
                            const attribution::classification& found) {
  passed(event_, how.passes.backwards_ended);
  auto& known = devices_[device];
  const auto* const place = known.live.find(block.address);
  if (place == nullptr) return;
  const auto number = *place;
  known.live.erase(block.address);
  const auto [kind, is_new] = known.kinds.try_emplace(
      kind_of(block, found), static_cast<std::uint32_t>(known.by_kind.size()));
  if (is_new) known.by_kind.push_back(&kind->first);
  auto& made = made_.devices[device];
  made.kinds[number] = kind->second;
  if (found.until_backward != forever) {
    made.until_backward.emplace_back(number, found.until_backward);
  }
}

void fate_collector::finished(std::uint32_t device, attribution::settled_blocks& blocks) {
  const auto& known = devices_[device];
  auto& made = made_.devices[device];
  made.made.reserve(known.by_kind.size());
  for (const auto* const kind : known.by_kind) {
    auto block = *kind;
    block.found = blocks.classification_of(block);
    fate one;
    one.what = block.found.what;
    one.how = block.found.how;
    one.rule = block.found.rule;
    one.born_in = block.where.born_in;
    one.recomputed = block.where.recomputed;
    one.module = blocks.row_of(block);
    one.name = block.name;
    one.detail = block.detail;
    one.forward = block.where.forward;
    one.node = block.where.node;
    made.made.push_back(one);
  }
  made.modules = blocks.rows().take();
  std::ranges::sort(made.until_backward);
  std::ranges::sort(made.sizes);
  devices_.erase(device);
}

}  // namespace memtrace::history
