// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/sampler/process_watch.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "interpose/door/sampler/sample_plan.h"
#include "interpose/door/sampler/sampler.h"
#include "interpose/ground/base/futex.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/driver/device_log.h"
#include "interpose/ground/driver/nvml.h"
#include "interpose/ground/recorder/tick_clock.h"
#include "interpose/ground/session/refusals.h"
#include "memtrace/host_samples.h"

namespace memtrace::process_watch {
namespace {

namespace host = format::host;

constexpr std::uint64_t ms = 1'000'000;  // ns
constexpr std::uint32_t longest_pause_ms = 250;
// Between two looks, however often somebody wakes it.
constexpr std::uint32_t shortest_pause_ms = 10;
constexpr std::uint32_t longest_wait_ms = 200;  // of exit and fork, for a look
constexpr unsigned most_unknown = 8;            // looks in turn that told nothing

struct watched_device {
  std::atomic<bool> is_taken{false};
  std::atomic<bool> is_seen{false};  // and its bus_id is there
  char bus_id[32];
  std::atomic<bool> has_first{false};
  std::atomic<std::uint64_t> first_others{0};
};
std::array<watched_device, max_devices> devices;

struct running {
  recorder* to = nullptr;
  std::atomic<std::uint32_t> asked{0};  // the futex it waits on
  std::atomic<bool> is_asked{false};
  std::atomic<bool> stop{false};
};
alignas(running) char storage[sizeof(running)];
std::atomic<running*> current{nullptr};

// Held while NVML works: a fork or an exit in the middle of it would leave its locks to nobody, or
// take away what it stands on.
small_lock at_work;
thread_local constinit bool held_for_fork = false;

watched_device& at(std::uint32_t device) noexcept {
  return devices[device % max_devices];
}

void ask(running& now) noexcept {
  now.asked.fetch_add(1, std::memory_order_release);
  futex_wake_all(now.asked);
}

void finish_before_nvml() {
  finish();
}

// Before the exit handlers that NVML has registered by then.
bool open_nvml() noexcept {
  if (!nvml::load() || std::atexit(&finish_before_nvml) != 0) return false;
  return nvml::start() && std::atexit(&finish_before_nvml) == 0;
}

void record(recorder& to, std::uint32_t device, const nvml::process_bytes& found) noexcept {
  std::array<counter_value, 2> values;
  std::size_t count = 0;
  const auto add = [&](const char* suffix, std::uint64_t bytes) {
    char name[64];
    std::snprintf(name, sizeof name, "%s%u%s", host::device_prefix, device, suffix);
    values[count++] = {to.text_id(name), static_cast<double>(bytes)};
  };
  add(host::device_own_suffix, found.own);
  add(host::device_others_suffix, found.others);
  (void)to.samples(values);
}

// Whether anything is known of any device.
bool look(running& now) noexcept {
  bool is_known = false;
  for (std::uint32_t device = 0; device < max_devices; ++device) {
    auto& of = at(device);
    if (!of.is_seen.load(std::memory_order_acquire)) continue;
    const bool is_after_first = device_log::others_and_contexts(device).has_value();
    const auto found = nvml::of_device(of.bus_id);
    if (!found.known) continue;
    is_known = true;
    if (is_after_first && !of.has_first.load(std::memory_order_relaxed)) {
      of.first_others.store(found.others, std::memory_order_relaxed);
      of.has_first.store(true, std::memory_order_release);
    }
    record(*now.to, device, found);
  }
  return is_known;
}

bool any_is_seen() noexcept {
  for (const auto& of : devices) {
    if (of.is_seen.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

// The findings of one turn of the thread.
enum class outcome { looked, nothing_known, cannot_be_opened, nothing_to_do };

class watcher {
 public:
  explicit watcher(running& now) noexcept : now_(now), began_(monotonic_ns()) {}

  // Opens NVML once a device is in use, and looks at it at once: what exit waits for is of use.
  [[nodiscard]] outcome turn() noexcept {
    const std::uint64_t before = monotonic_ns();
    if (!any_is_seen() || !budget_.allows(before - began_)) return outcome::nothing_to_do;
    const lock_holder holder(at_work);
    if (now_.stop.load(std::memory_order_relaxed)) return outcome::nothing_to_do;
    if (!is_open_ && !open_nvml()) return outcome::cannot_be_opened;
    const std::uint64_t opened = is_open_ ? before : monotonic_ns();
    is_open_ = true;
    const bool is_known = look(now_);
    budget_.spend(monotonic_ns() - opened);
    return is_known ? outcome::looked : outcome::nothing_known;
  }

 private:
  running& now_;
  std::uint64_t began_;
  sampler::time_budget budget_{20 * ms, 4000};
  bool is_open_ = false;
};

void watch(running& now) noexcept {
  watcher all(now);
  unsigned unknown = 0;
  while (!now.stop.load(std::memory_order_relaxed)) {
    const std::uint32_t question = now.asked.load(std::memory_order_acquire);
    now.is_asked.store(false, std::memory_order_relaxed);
    const outcome found = all.turn();
    if (found == outcome::cannot_be_opened) {
      return refusals::refuse(capability::nvml, "NVML cannot be opened here");
    }
    if (found == outcome::looked) unknown = 0;
    if (found == outcome::nothing_known && ++unknown == most_unknown) {
      return refusals::refuse(capability::nvml,
                              "NVML does not tell this process from others (a container, or a part "
                              "of a GPU)");
    }
    if (found != outcome::nothing_to_do) {
      // Not by the word that it is woken with: whoever asks meanwhile is heard after it.
      std::atomic<std::uint32_t> nobody{0};
      futex_wait(nobody, 0, shortest_pause_ms);
    }
    futex_wait(now.asked, question, longest_pause_ms);
  }
}

void* run(void* argument) {
  pthread_setname_np(pthread_self(), "memtrace-nvml");
  watch(*static_cast<running*>(argument));
  return nullptr;
}

void before_fork() noexcept {
  held_for_fork =
      current.load(std::memory_order_relaxed) != nullptr && at_work.try_lock_for(longest_wait_ms);
}
void after_fork() noexcept {
  if (held_for_fork) at_work.unlock();
}

}  // namespace

void load() noexcept {
  if (!settings::is_on(capability::nvml) || !settings::is_on(capability::sampling)) return;
  (void)pthread_atfork(&before_fork, &after_fork, nullptr);
}

void start(recorder& to) noexcept {
  if (!refusals::is_allowed(capability::nvml) || current.load(std::memory_order_relaxed) != nullptr)
    return;
  auto* const made = new (storage) running;
  made->to = &to;
  if (sampler::start_own_thread(&run, made)) current.store(made, std::memory_order_release);
}

void finish() noexcept {
  running* const now = current.load(std::memory_order_acquire);
  if (now == nullptr || now->stop.exchange(true, std::memory_order_relaxed)) return;
  ask(*now);
  if (at_work.try_lock_for(longest_wait_ms)) at_work.unlock();
}

void in_forked_child() noexcept {
  current.store(nullptr, std::memory_order_relaxed);
  new (&at_work) small_lock;
  for (auto& of : devices) {
    of.is_taken.store(false, std::memory_order_relaxed);
    of.is_seen.store(false, std::memory_order_relaxed);
    of.has_first.store(false, std::memory_order_relaxed);
  }
}

void see(std::uint32_t device) noexcept {
  auto& of = at(device);
  running* const now = current.load(std::memory_order_acquire);
  if (now == nullptr || of.is_taken.load(std::memory_order_relaxed)) return;
  if (of.is_taken.exchange(true, std::memory_order_relaxed)) return;
  if (!device_log::pci_bus_id(device, of.bus_id)) return;
  of.is_seen.store(true, std::memory_order_release);
  ask(*now);
}

void wake() noexcept {
  running* const now = current.load(std::memory_order_acquire);
  if (now == nullptr || now->is_asked.exchange(true, std::memory_order_relaxed)) return;
  ask(*now);
}

std::optional<std::uint64_t> others_at_first(std::uint32_t device) noexcept {
  const auto& of = at(device);
  if (!of.has_first.load(std::memory_order_acquire)) return std::nullopt;
  return of.first_others.load(std::memory_order_relaxed);
}

void device_ended(std::uint32_t device) noexcept {
  at(device).has_first.store(false, std::memory_order_relaxed);
  wake();
}

}  // namespace memtrace::process_watch
