// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/status.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "interpose/ground/base/loaded_library.h"
#include "interpose/ground/base/news.h"
#include "interpose/ground/base/notice.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/loader/hook_table.h"
#include "interpose/sight/autograd/torch_functions.h"
#include "interpose/sight/autograd/torch_symbols.h"

namespace memtrace::autograd::status {
namespace {

// "on", or what is missing, once tensors are decided.
char described[800];
std::atomic<bool> is_described{false};
std::atomic<std::uint32_t> told_to{0};  // generation of the recorder

class sentence {
 public:
  void add(const char* part) noexcept {
    const std::size_t free = sizeof text_ - size_;
    const int more = std::snprintf(text_ + size_, free, "%s%s", size_ == 0 ? "" : "; ", part);
    if (more > 0) size_ += std::min(free - 1, static_cast<std::size_t>(more));
  }
  void add_missing(bool is_missing, const char* function, const char* without) noexcept {
    if (!is_missing) return;
    char part[160];
    std::snprintf(part, sizeof part, "no %s: %s", function, without);
    add(part);
  }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const char* text() const noexcept { return text_; }

 private:
  char text_[sizeof described] = {};
  std::size_t size_ = 0;
};

bool is_missing(hook_id id) noexcept {
  return real_function<void()>(id) == nullptr;
}

void describe_functions(sentence& to) noexcept {
  to.add_missing(is_missing(hook_id::AUTOGRAD_EXECUTE), "Engine::execute", "no backward phases");
  to.add_missing(is_missing(hook_id::AUTOGRAD_EVALUATE), "Engine::evaluate_function",
                 "allocations of backward are not mapped to forward");
  to.add_missing(is_missing(hook_id::AUTOGRAD_SEQUENCE), "sequence_number::get_and_increment",
                 "allocations of backward are not mapped to forward");
  to.add_missing(is_missing(hook_id::AUTOGRAD_SAVED), "SavedVariable",
                 "saved tensors are not known");
  to.add_missing(is_missing(hook_id::AUTOGRAD_CAST), "autocast::cached_cast",
                 "autocast's copies are not known");
  const torch_functions* const torch = find_torch_functions();
  if (torch == nullptr) return;
  to.add_missing(torch->grad_mode == nullptr, "GradMode::is_enabled", "taken to be on");
  to.add_missing(torch->inference_mode == nullptr, "InferenceMode::is_enabled", "taken to be off");
  to.add_missing(torch->autocast == nullptr, "is_autocast_enabled", "taken to be off");
}

void describe(const char* about_tensors) noexcept {
  sentence found;
  describe_functions(found);
  if (about_tensors != nullptr) found.add(about_tensors);
  if (found.empty()) found.add("on");
  std::snprintf(described, sizeof described, "%s", found.text());
  is_described.store(true, std::memory_order_release);
  something_is_new();
}

void say_switched_off() noexcept {
  std::snprintf(
      described, sizeof described, "%s",
      settings::mode() == recording_mode::minimal ? "MEMTRACE=minimal" : "MEMTRACE_AUTOGRAD=0");
  is_described.store(true, std::memory_order_release);
}

}  // namespace

void tensors_are_on() noexcept {
  describe(nullptr);
}

void tensors_are_off(const char* reason) noexcept {
  notice::log("tensors are not read: %s", reason);
  char sentence[200];
  std::snprintf(sentence, sizeof sentence, "%s: saved tensors and leaves are not known", reason);
  describe(sentence);
}

void record_news(recorder& to) noexcept {
  if (!is_described.load(std::memory_order_acquire)) return;
  const std::uint32_t now = to.generation();
  if (told_to.load(std::memory_order_relaxed) == now) [[likely]]
    return;
  if (told_to.exchange(now, std::memory_order_relaxed) == now) return;
  to.info(format::info_key::autograd, described);
}

void record_at_end(recorder& to) noexcept {
  loaded_library torch;
  if (!is_described.load(std::memory_order_acquire)) {
    if (!find_loaded_library("libtorch_cpu.so", torch)) return;
    if (settings::is_on(capability::autograd)) {
      tensors_are_off("nobody said what tensors look like");
    } else {
      say_switched_off();
    }
  }
  record_news(to);
}

}  // namespace memtrace::autograd::status
