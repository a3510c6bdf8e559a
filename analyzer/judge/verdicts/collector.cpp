// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/collector.h"

#include <algorithm>
#include <functional>

namespace memtrace::verdicts {

void segment_makers::note(std::uint32_t site, const attribution::block_life& block,
                          std::uint64_t bytes) {
  auto& made = by_site_[site];
  made.site = site;
  made.stack = block.stack;
  made.forward = block.scope.forward;
  made.born_in = block.born.during;
  made.bytes += bytes;
  ++made.blocks;
}

std::vector<suspect> segment_makers::suspects(double bytes_per_step) const {
  std::vector<suspect> found;
  double all = 0;
  for (const auto& [site, made] : by_site_) {
    found.push_back(made);
    all += static_cast<double>(made.bytes);
  }
  for (auto& one : found) {
    one.share = static_cast<double>(one.bytes) / all;
    one.bytes_per_step = one.share * bytes_per_step;
  }
  std::ranges::stable_sort(found, std::greater(), &suspect::bytes);
  return found;
}

namespace {

constexpr std::uint64_t enough_steps = 10;  // for growth::judge

// Free memory of expandable segments is not stuck: requests of any size fit into it.
[[nodiscard]] std::uint64_t occupied(const replay::segment_table& segments) {
  using replay::unused_reason;
  auto bytes = segments.reserved();
  for (const auto why : {unused_reason::empty_segments, unused_reason::expandable}) {
    bytes -= segments.unused()[static_cast<std::size_t>(why)];
  }
  return bytes;
}

// A block that autograd kept first, and that the program still keeps several backward passes later,
// with no graph, is something that the program gathers: that is what grows. So is a block that was
// computed while a model was evaluated, and then trained with (a teacher's answers, an actor's
// states), although it is an input.
[[nodiscard]] attribution::category lasting_category(const attribution::block_life& block,
                                                     const attribution::classification& found,
                                                     const attribution::life_end& how) {
  constexpr std::uint32_t several = 3;
  const auto now = how.passes.backwards_ended;
  const bool computed = found.what == attribution::category::inputs && block.born.evaluating &&
                        block.saved.times != 0 && !block.has(format::storage_role::host_copy);
  const auto used = computed ? block.born.passes.backwards_ended : found.until_backward;
  const bool gathered = now >= several && used <= now - several;
  return gathered ? attribution::category::collected : found.what;
}

}  // namespace

collector::holdings& collector::at(std::uint32_t device) {
  if (latest_ == nullptr || latest_device_ != device) {
    latest_ = &devices_[device];
    latest_device_ = device;
    if (latest_->steps == nullptr) latest_->steps = &steps_.device(device, allocated(device));
  }
  return *latest_;
}

std::uint64_t collector::allocated(std::uint32_t device) const {
  const auto* const record = replayed_.device(device);
  return record == nullptr ? 0 : record->allocator.allocated();
}

std::uint64_t collector::in_use(std::uint32_t device) const {
  const auto* const record = replayed_.device(device);
  if (record == nullptr) return 0;
  const auto& segments = record->allocator.segments();
  auto used = segments.reserved();
  for (const auto unused : segments.unused()) used -= unused;
  return used;
}

std::uint64_t collector::reserved(std::uint32_t device) const {
  const auto* const record = replayed_.device(device);
  if (record == nullptr) return 0;
  const auto& allocator = record->allocator;
  return allocator.segments().reserved() +
         static_cast<std::uint64_t>(allocator.reserved_difference());
}

totals_now collector::totals_of(std::uint32_t device) const {
  totals_now now;
  const auto* const record = replayed_.device(device);
  if (record == nullptr) return now;
  const auto& allocator = record->allocator;
  now.allocated = allocator.allocated();
  now.in_use = in_use(device);
  now.reserved = reserved(device);
  now.occupied = occupied(allocator.segments());
  // With backend:cudaMallocAsync PyTorch reserves nothing, and yet what its tensors have is its own.
  // Without PyTorch the blocks are what CUDA's calls got.
  const auto* const calls = replayed_.driver().device(device);
  const auto of_pytorch = std::max(now.reserved, calls == nullptr ? 0 : calls->in_segments);
  const auto followed = of_pytorch == 0 ? now.allocated : of_pytorch;
  const auto from_driver = replayed_.driver().on_device(device);
  now.outside = from_driver - std::min(from_driver, followed);
  return now;
}

void collector::before(const trace::event& head) {
  time_ns_ = head.time_ns;
  if (replayed_.device(head.device) != nullptr) {
    const auto now = allocated(head.device);
    const auto used = in_use(head.device);
    at(head.device).steps->whole.observe(now, used);
    phases_.for_each_running(
        [&](timeline& episode) { episode.device(head.device, now).whole.observe(now, used); });
  }
  while (given_passed_ < given_.size() && given_[given_passed_] <= head.number) {
    const auto event = given_[given_passed_++];
    phases_.stepped(head, false, totals_);
    end_step(head, event);
  }
}

void collector::born(std::uint32_t device, const attribution::block_life& block) {
  ++births_;
  last_birth_ = block.born_event;
  for (const auto module : {block.scope.module, block.scope.root}) {
    if (module) modules_.ran(module, steps_.clock().now());
  }
  phases_.born(block, time_ns_, totals_);
  const auto site = sites_.of(block);
  auto& held = at(device);
  auto& holding = held.at(site);
  steps_.born(*held.steps, site, holding, block.bytes);
  held.makers.born(site, block, reserved(device), steps_.clock().now());
  phases_.for_each_running([&](timeline& episode) {
    episode.born(episode.device(device, 0), site, holding, block.bytes);
  });
  holding.bytes += block.bytes;
  ++holding.blocks;
}

void collector::resized(std::uint32_t device, const attribution::block_life& block,
                        std::uint64_t difference) {
  const auto site = sites_.of(block);
  auto& held = at(device);
  auto& holding = held.at(site);
  steps_.resized(*held.steps, site, holding, difference);
  phases_.for_each_running([&](timeline& episode) {
    episode.resized(episode.device(device, 0), site, holding, difference);
  });
  holding.bytes += difference;
}

bool collector::ended(std::uint32_t device, const attribution::block_life& block,
                      const attribution::life_end& how) {
  if (!how.alive) {
    const auto site = sites_.of(block);
    auto& held = at(device);
    auto& holding = held.at(site);
    steps_.died(*held.steps, site, holding, block.resident(), block.born_event);
    phases_.for_each_running([&](timeline& episode) {
      episode.died(episode.device(device, 0), site, holding, block.resident(), block.born_event);
    });
    holding.bytes -= block.resident();
    --holding.blocks;
  }
  bool wanted = steps_.outlived(block.born_event);
  phases_.for_each(
      [&](const timeline& episode) { wanted = wanted || episode.outlived(block.born_event); });
  return wanted;
}

void collector::judged(std::uint32_t device, const attribution::block_life& block,
                       const attribution::life_end& how, const attribution::classification& found) {
  const auto site = sites_.of(block);
  const auto what =
      in_graphs_.erase(block.born_event) != 0 ? found.what : lasting_category(block, found, how);
  phases_.for_each([&](timeline& episode) {
    if (!episode.outlived(block.born_event)) return;
    episode.judged(episode.device(device, 0), site, block, what);
  });
  if (!steps_.outlived(block.born_event)) return;
  if (what == attribution::category::weights) {
    modules_.kept(device, site, block.object, names_[block.name], block.bytes,
                  steps_.clock().now());
  }
  steps_.judged(*at(device).steps, site, block, what);
  const auto& clock = steps_.clock();
  categories_.lived(what, block.bytes, clock.step_of(block.born_event), clock.now());
}

void collector::end_step(const trace::event& head, std::uint64_t event) {
  steps_.end_step(event, head.time_ns, totals_);
  if (steps_.clock().now() == enough_steps) phases_.forget_calls();
}

void collector::stepped(const trace::event& head, const trace::step_event& record) {
  const bool user = record.source == format::step_source::user;
  const auto* const on = replayed_.device(head.device);
  if (!user && on != nullptr && on->allocator.graphs().is_capturing()) return;
  if (!user && (by_user_ || !steps_.clock().begins_round(record.object))) return;
  if (user && !by_user_ && steps_.clock().now() != 0) {  // its own count, from the first on
    steps_ = timeline(head.number);
    categories_ = {};
    for (auto& [device, held] : devices_) held.steps = &steps_.device(device, allocated(device));
  }
  by_user_ = by_user_ || user;
  phases_.stepped(head, true, totals_);
  end_step(head, head.number);
}

void collector::phase_changed(const trace::event& head, const trace::phase_event& record) {
  phases_.phase_changed(head, record);
}

void collector::census(const trace::event& head, const trace::heap_scan_event& record) {
  kept_.census(head, record, steps_.clock().now());
}

void collector::held(std::uint32_t device, const attribution::block_life* block,
                     const trace::storage_event& record) {
  if (block == nullptr) {
    kept_.held(device, UINT32_MAX, nullptr, record);
    return;
  }
  constexpr std::size_t most_in_graphs = std::size_t{1} << 20;
  if ((record.flags & format::held_graph) == 0) {
    in_graphs_.erase(block->born_event);
  } else if (in_graphs_.size() < most_in_graphs) {
    in_graphs_.insert(block->born_event);
  }
  const auto site = sites_.of(*block);
  kept_.held(device, site, block, record, at(device).at(site).bytes);
}

}  // namespace memtrace::verdicts
