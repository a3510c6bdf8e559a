// SPDX-License-Identifier: Apache-2.0
#include "interpose/sampler/device_use.h"

#include <array>
#include <cstdio>

#include "interpose/hooks/device_log.h"
#include "interpose/recorder/tick_clock.h"
#include "memtrace/host_samples.h"

namespace memtrace::device_use {
namespace {

std::array<std::atomic<std::uint32_t>, max_devices> answered{};
std::atomic<std::uint64_t> latest_cost{0};

}  // namespace

std::uint64_t cost() noexcept {
  return latest_cost.load(std::memory_order_relaxed);
}

void answer_now(recorder& to) noexcept {
  const std::uint32_t question = asked.load(std::memory_order_relaxed);
  seen = question;
  const std::uint32_t device = device_log::current();
  auto& last = answered[device % max_devices];
  if (last.exchange(question, std::memory_order_relaxed) == question) return;
  const std::uint64_t began = monotonic_ns();
  const std::uint64_t used = device_log::used_bytes();
  latest_cost.store(monotonic_ns() - began, std::memory_order_relaxed);
  if (used == 0) return;
  char name[64];
  std::snprintf(name, sizeof name, "%s%u%s", format::host::device_prefix, device,
                format::host::device_used_suffix);
  to.counter(name, static_cast<double>(used));
}

}  // namespace memtrace::device_use
