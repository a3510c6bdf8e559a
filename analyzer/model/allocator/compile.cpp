// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/compile.h"

#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/allocator/device_compiler.h"
#include "analyzer/model/allocator/settings_of_environment.h"

namespace memtrace::allocator {

namespace {

// cudaErrorMemoryAllocation and CUDA_ERROR_OUT_OF_MEMORY
constexpr std::uint64_t out_of_memory = 2;
constexpr std::size_t most_devices = 256;

}  // namespace

struct compiler::state {
  struct device_state {
    device_compiler made;
    std::size_t texts_before = 0;  // settings that the program gave before its first request
  };

  state(const trace::dictionary& known, kept_answers keep) : names(known), keeps(keep) {}

  // Null: more devices than any machine has.
  [[nodiscard]] device_compiler* device(std::uint32_t index) {
    const auto found = devices.find(index);
    if (found != devices.end()) return &found->second.made;
    if (devices.size() == most_devices) return nullptr;
    return &devices.try_emplace(index, device_state{{index, keeps}, texts.size()})
                .first->second.made;
  }

  // The settings at the first request: the environment's, and what the program had changed.
  void set_options(request_log& log, std::size_t texts_before) const {
    const auto environment = environment_settings.in_force();
    const auto parsed = parse_settings(environment, torch_version);
    if (const auto* const refused = std::get_if<refusal>(&parsed); refused != nullptr) {
      log.doubts.push_back("its allocator settings are not understood: " + refused->what);
      log.options = refused->left;
    } else {
      log.options = std::get<settings>(parsed);
    }
    log.settings_text = environment;
    for (std::size_t i = 0; i < texts_before && i < texts.size(); ++i) {
      if (texts[i] == environment) continue;
      const auto changed = change_settings(log.options, texts[i], torch_version);
      const auto* const accepted = std::get_if<settings>(&changed);
      log.options = accepted != nullptr ? *accepted : std::get<refusal>(changed).left;
      log.settings_text = to_text(log.options);
    }
  }
  // Whether a fraction is that of per_process_memory_fraction, of which the recording tells when it
  // begins. The allocator gives it as whole bytes by the device's.
  [[nodiscard]] bool is_of_environment(double fraction) const {
    const auto parsed = parse_settings(environment_settings.in_force(), torch_version);
    const auto* const known = std::get_if<settings>(&parsed);
    return known != nullptr && std::abs(known->memory_fraction - fraction) < 1e-9;
  }

  const trace::dictionary& names;
  kept_answers keeps;
  std::string torch_version;
  settings_of_environment environment_settings;
  std::vector<std::string> texts;  // of settings, as the program gave them
  bool without_tracker = false;
  bool is_snapshot = false;  // which never tells the device's size: replaying it is the check
  std::vector<std::string> doubts;
  std::map<std::uint32_t, device_state> devices;
};

compiler::compiler(const trace::dictionary& names, kept_answers keep)
    : state_(std::make_unique<state>(names, keep)) {}

compiler::~compiler() = default;

void compiler::on_info(std::string_view key, std::string_view value) {
  if (key == format::info_key::torch) state_->torch_version = value;
  state_->environment_settings.info(key, value);
  if (key == format::info_key::source) state_->is_snapshot = true;
}

void compiler::on_device(const trace::device_facts& facts) {
  if (auto* const device = state_->device(facts.device); device != nullptr) {
    device->device_is(facts.total_bytes, facts.free_before_first_segment);
  }
}

void compiler::on_allocator(const trace::event& head, const trace::allocator_event& record) {
  if (auto* const device = state_->device(head.device); device != nullptr) {
    device->allocator_entry(head, record);
  }
}

void compiler::on_report(const trace::report_event& report) {
  if (auto* const device = state_->device(report.device); device != nullptr) {
    device->report(report);
  }
}

void compiler::on_reported(const trace::event& head, const trace::reported_event& record) {
  if (auto* const device = state_->device(head.device); device != nullptr) {
    device->block_report(head, record);
  }
}

void compiler::on_operation(const trace::event& head, const trace::operation_event& record) {
  switch (static_cast<format::operation>(record.operation)) {
    case format::operation::settings:
      for (auto& [index, device] : state_->devices) {
        if (device.made.has_requests()) {
          device.made.settings_change(head, record.text);
        } else {
          device.texts_before = state_->texts.size() + 1;
        }
      }
      state_->texts.emplace_back(record.text);
      return;
    case format::operation::empty_cache_begin:  // of all devices
    case format::operation::empty_cache_end:
      for (auto& [index, device] : state_->devices) device.made.operation(head, record);
      return;
    case format::operation::gap:
      state_->doubts.push_back("events are missing: " + std::string(record.text));
      return;
    case format::operation::memory_fraction:
      // Later the program goes back to it itself.
      if (const auto* const device = state_->device(head.device);
          device != nullptr && !device->has_requests() &&
          state_->is_of_environment(std::bit_cast<double>(record.a))) {
        return;
      }
      break;
    default:
      break;
  }
  if (auto* const device = state_->device(head.device); device != nullptr) {
    device->operation(head, record);
  }
}

void compiler::on_cuda_call(const trace::event& head, const trace::cuda_call_event& call) {
  const auto api = state_->names[call.api];
  const bool is_malloc = api == "cudaMalloc";
  const bool is_create = api.starts_with("cuMemCreate");
  const bool is_reserve = api.starts_with("cuMemAddressReserve");
  const bool is_free = call.release && api == "cudaFree";
  if (!is_malloc && !is_create && !is_reserve && !is_free) return;
  auto* const device = state_->device(head.device);
  if (device == nullptr) return;
  if (is_free) {
    device->outside_released(call.address);
  } else if (call.error == out_of_memory ? !is_reserve : call.error != 0 && is_create) {
    // A segment size that is no multiple of the driver's granule is an error, too.
    device->driver_call(head, driver_action::refused, 0, call.size);
  } else if (call.error == 0 && is_malloc) {
    device->driver_call(head, driver_action::allocated, call.address, call.size);
  } else if (call.error == 0 && is_reserve) {
    device->driver_call(head, driver_action::reserved, call.address, call.size);
  }
}

void compiler::on_cuda_undo(const trace::event& head, const trace::cuda_undo_event& record) {
  if (state_->names[record.api] != "cudaFree") return;
  if (auto* const device = state_->device(head.device); device != nullptr) {
    device->doubt("the driver did not take memory back: PyTorch fails there");
  }
}

void compiler::on_message(const trace::event& /*head*/, const trace::message_event& record) {
  constexpr std::size_t most_doubts = 8;
  if (record.severity != 1 || state_->doubts.size() >= most_doubts) return;
  state_->doubts.push_back("data is missing: " + std::string(record.text));
}

std::map<std::uint32_t, std::unique_ptr<request_log>> compiler::finish() {
  std::map<std::uint32_t, std::unique_ptr<request_log>> logs;
  const auto& version = state_->torch_version;
  for (auto& [index, device] : state_->devices) {
    if (!device.made.has_allocations()) continue;
    auto log = device.made.finish();
    log->torch_version = version;
    state_->set_options(*log, device.texts_before);
    if (log->options.backend != backend::native) {
      log->doubts.push_back("its allocator was not PyTorch's native one");
    }
    if (log->total_bytes == 0 && ((log->options.expandable_segments && !state_->is_snapshot) ||
                                  log->options.memory_fraction < 1)) {
      log->doubts.push_back("the device's size is not recorded");
    }
    log->doubts.insert(log->doubts.end(), state_->doubts.begin(), state_->doubts.end());
    logs.emplace(index, std::move(log));
  }
  return logs;
}

}  // namespace memtrace::allocator
