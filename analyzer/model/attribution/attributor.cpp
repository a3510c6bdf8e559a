// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/attributor.h"

#include <array>
#include <utility>
#include <vector>

#include "analyzer/model/attribution/block_life.h"
#include "analyzer/model/attribution/compose.h"
#include "analyzer/model/attribution/device_state.h"
#include "analyzer/model/attribution/life_observer.h"
#include "analyzer/model/attribution/module_table.h"
#include "analyzer/model/attribution/parameter_table.h"
#include "analyzer/model/attribution/settled.h"

namespace memtrace::attribution {

class run_state {
 public:
  run_state(const trace::dictionary& names, options wanted)
      : run(names, std::move(wanted)), modules(names), parameters(names) {}

  // Null: no event of the device yet.
  [[nodiscard]] device_state* device(std::uint32_t index) {
    return index < devices_.size() ? devices_[index].get() : nullptr;
  }
  [[nodiscard]] device_state* device(std::uint32_t index, const replay::replayer& replayed) {
    if (index >= devices_.size()) return nullptr;
    auto& known = devices_[index];
    const auto* const record = known == nullptr ? replayed.device(index) : nullptr;
    if (record != nullptr) {
      known = std::make_unique<device_state>(run, record->allocator, index);
      present_.push_back(known.get());
    }
    return known.get();
  }
  template <class Function>
  void for_each_device(Function&& function) {
    for (std::uint32_t index = 0; index < devices_.size(); ++index) {
      if (devices_[index] != nullptr) function(index, *devices_[index]);
    }
  }
  // The block at an address, on the device it most likely is on.
  [[nodiscard]] block_life* find(std::uint32_t likely, std::uint64_t address) {
    auto* const first = device(likely);
    auto* found = first == nullptr ? nullptr : first->find(address);
    for (auto* const other : present_) {
      if (found != nullptr) break;
      if (other != first) found = other->find(address);
    }
    return found;
  }

  // Of these devices memory falls asleep or wakes up with the next record: what came before that is
  // settled first.
  [[nodiscard]] std::vector<device_state*> before_sleep(const trace::event& head,
                                                        const std::vector<std::uint32_t>& devices) {
    std::vector<device_state*> found;
    for (const auto index : devices) {
      auto* const known = device(index);
      if (known == nullptr) continue;
      auto here = head;
      here.device = index;
      if (run.wanted.lives != nullptr) run.wanted.lives->before(here);
      known->before_event(here);
      found.push_back(known);
    }
    return found;
  }

  run_context run;
  module_table modules;
  parameter_table parameters;
  result gathered;

 private:
  std::array<std::unique_ptr<device_state>, 128> devices_;  // as many as the replayer knows
  std::vector<device_state*> present_;
};

attributor::attributor(const trace::dictionary& names, replay::replayer& replayed, options wanted)
    : replayed_(replayed), state_(std::make_unique<run_state>(names, std::move(wanted))) {}

attributor::~attributor() = default;

void attributor::on_info(std::string_view key, std::string_view value) {
  replayed_.on_info(key, value);
  if (key == format::info_key::agent) state_->gathered.agent = value;
  if (key == format::info_key::autograd) state_->gathered.autograd = value;
}

void attributor::on_thread(trace::thread_id thread) {
  replayed_.on_thread(thread);
}

void attributor::on_device(const trace::device_facts& facts) {
  replayed_.on_device(facts);
}

void attributor::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  if (auto* const lives = state_->run.wanted.lives) lives->before(head);
  if (auto* const before = state_->device(head.device)) before->before_event(head);
  replayed_.on_allocator(head, record);
  if (record.kind == format::kind::oom) state_->run.phases.on_refusal();
  auto* const device = state_->device(head.device, replayed_);
  if (device == nullptr) return;
  device->take_peak();
  if (record.kind == format::kind::alloc) {
    device->allocate(head, record.address, replay::least_block(record.size), record.stack);
  } else if (record.kind == format::kind::oom) {
    device->refuse(head, replay::least_block(record.size), record.stack);
  } else if (record.kind == format::kind::free_requested) {
    device->free(head, record.address, record.stack);
  } else if (record.kind == format::kind::free_completed) {
    // Where the request was not recorded there is still a block.
    if (device->find(record.address) != nullptr) device->free(head, record.address, record.stack);
  }
  device->follow_sleep();
}

void attributor::on_report(const trace::report_event& report) {
  replayed_.on_report(report);
  if (auto* const device = state_->device(report.device)) device->report(report);
}

void attributor::on_reported(const trace::event& head, const trace::reported_event& record) {
  if (auto* const lives = state_->run.wanted.lives) lives->before(head);
  if (auto* const before = state_->device(head.device)) before->before_event(head);
  replayed_.on_reported(head, record);
  auto* const device = state_->device(head.device, replayed_);
  if (device == nullptr) return;
  device->take_peak();
  if (record.is_alloc) {
    device->allocate(head, record.address, record.block_bytes, record.stack);
  } else {
    device->free(head, record.address, record.stack);
  }
  device->follow_sleep();
}

void attributor::on_operation(const trace::event& head, const trace::operation_event& record) {
  replayed_.on_operation(head, record);
}

void attributor::on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) {
  const auto sleeping = state_->before_sleep(head, replayed_.sleeping_on(call));
  replayed_.on_cuda_call(head, call);
  for (auto* const device : sleeping) device->change_backing(head, call.stack);
}

void attributor::on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& failed) {
  const auto sleeping = state_->before_sleep(head, replayed_.sleeping_on(failed));
  replayed_.on_cuda_undo(head, failed);
  for (auto* const device : sleeping) device->change_backing(head, {});
}

void attributor::on_message(const trace::event& head, const trace::message_event& record) {
  replayed_.on_message(head, record);
}

void attributor::on_module(const trace::event&, const trace::module_event& record) {
  state_->modules.name(record);
  if (auto* const lives = state_->run.wanted.lives) lives->named(record);
}

void attributor::on_storage(const trace::event& next, const trace::storage_event& record) {
  using format::storage_role;
  auto* const block = state_->find(next.device, record.address);
  if (record.role == storage_role::held) {
    if (auto* const lives = state_->run.wanted.lives) lives->held(next.device, block, record);
    if (block != nullptr) annotate(*block, record, nullptr, state_->run.names);
    return;
  }
  auto& knowledge = state_->run.knowledge;
  if (record.role == storage_role::parameter) {
    knowledge.parameters = true;
    if (block != nullptr) knowledge.parameter_sizes.insert(block->bytes);
    state_->parameters.publish(record, block);
  } else if (record.role == storage_role::optimizer_state) {
    state_->parameters.publish_state(record);
  } else if (record.role == storage_role::workspace) {
    knowledge.workspaces = true;
  }
  if (block == nullptr) return;
  const auto* const leaf =
      names_a_leaf(record.role) ? state_->find(next.device, record.bytes) : nullptr;
  annotate(*block, record, leaf, state_->run.names);
}

void attributor::on_saved(const trace::event& next, const trace::saved_event& record) {
  auto* const block = state_->find(next.device, record.address);
  if (block == nullptr) return;
  state_->run.phases.on_saved(next);
  annotate(*block, record, state_->run.phases.passes());
}

void attributor::on_phase(const trace::event& head, const trace::phase_event& record) {
  // A moment that is asked for, right after an event before this, is before this.
  state_->for_each_device([&](std::uint32_t, device_state& device) { device.before_event(head); });
  state_->run.phases.on_phase(head, record);
  state_->run.named.on_phase(head, record);
  if (auto* const lives = state_->run.wanted.lives) lives->phase_changed(head, record);
}

void attributor::on_step(const trace::event& head, const trace::step_event& record) {
  state_->for_each_device([&](std::uint32_t, device_state& device) {
    device.before_event(head);
    if (record.source == format::step_source::user) device.user_step(head);
    if (record.source == format::step_source::optimizer) {
      device.optimizer_step(head, record.object);
    }
  });
  if (auto* const lives = state_->run.wanted.lives) lives->stepped(head, record);
}

void attributor::on_heap_scan(const trace::event& head, const trace::heap_scan_event& record) {
  if (auto* const lives = state_->run.wanted.lives) lives->census(head, record);
}

composition attributor::held_now(std::uint32_t device) const {
  auto& state = *state_;
  const auto* const found = state.device(device);
  if (found == nullptr) return {};
  return composer{state.run, state.modules, state.parameters}.compose(found->now(), {}, false,
                                                                      nullptr);
}

composition attributor::held_at_peak(std::uint32_t device) const {
  auto& state = *state_;
  const auto* const found = state.device(device);
  if (found == nullptr) return {};
  return composer{state.run, state.modules, state.parameters}.compose(found->peak_so_far(), {},
                                                                      false, nullptr);
}

steps_so_far attributor::steps(std::uint32_t device) const {
  const auto* const found = state_->device(device);
  const auto* const steps = found == nullptr ? nullptr : found->marked_steps();
  if (steps == nullptr) return {};
  return {found->boundary(), steps->count(), steps->latest(), steps->before_latest()};
}

result attributor::finish() {
  replayed_.finish();
  auto& state = *state_;
  state.for_each_device([](std::uint32_t, device_state& device) { device.finish(); });
  const composer with{state.run, state.modules, state.parameters};
  if (auto* const lives = state.run.wanted.lives) {
    state.for_each_device([&](std::uint32_t index, device_state&) {
      settled_blocks blocks(with);
      lives->finished(index, blocks);
    });
  }
  state.for_each_device([&](std::uint32_t index, device_state& device) {
    state.gathered.devices.emplace(index, summarize(device, with));
  });
  summarize_run(state.run, state.modules, state.parameters, state.gathered);
  return std::move(state.gathered);
}

}  // namespace memtrace::attribution
