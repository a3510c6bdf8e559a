// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/tick_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>

#include "interpose/ground/base/read_clock.h"
#endif

namespace memtrace {
namespace {

// Shorter, and the 50 ns of a clock read would be more than 10 ppm of the rate.
constexpr std::uint64_t shortest_calibration_ns = 5'000'000;
// Times are kept to this or finer, as PyTorch's own recorder keeps them. In a trace that compresses
// well, times are most of it: half the unit is an eighth of a byte more for every event.
constexpr double wanted_unit_ns = 1000.0;

#if defined(__x86_64__)
// The kernel itself trusts the counter: it is its clock source, or the hypervisor's clock page.
bool kernel_uses_counter() noexcept {
  const int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                        O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[64];
  const ssize_t count = read(file, text, sizeof text);
  close(file);
  const std::string_view name(text, count > 0 ? static_cast<std::size_t>(count) : 0);
  return name.starts_with("tsc") || name.starts_with("kvm-clock") ||
         name.starts_with("hyperv_clocksource_tsc_page");
}

bool counter_is_invariant() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
}
#endif

std::uint32_t shift_for(double ns_per_tick) noexcept {
  std::uint32_t shift = 0;
  while (ns_per_tick * static_cast<double>(2u << shift) <= wanted_unit_ns) ++shift;
  return shift;
}

}  // namespace

std::uint64_t monotonic_ns() noexcept {
  return read_clock(CLOCK_MONOTONIC);
}
std::uint64_t realtime_ns() noexcept {
  return read_clock(CLOCK_REALTIME);
}

clock_pair tick_clock::sample() noexcept {
#if defined(__x86_64__)
  // A thread that is sent away between the two readings is off by a time slice, which is a part
  // in a hundred of a short calibration: the counter is read on both sides, and the narrowest
  // of a few tries is taken.
  clock_pair best;
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int tries = 0; tries < 4; ++tries) {
    const std::uint64_t before = __rdtsc();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t width = __rdtsc() - before;
    if (width >= narrowest) continue;
    narrowest = width;
    best = {before + width / 2, ns};
  }
  return best;
#else
  const std::uint64_t now = monotonic_ns();
  return {now, now};
#endif
}

tick_clock tick_clock::calibrate([[maybe_unused]] const clock_pair& earlier) noexcept {
#if defined(__x86_64__)
  const clock_pair now = sample();
  if (now.ns - earlier.ns >= shortest_calibration_ns && now.ticks > earlier.ticks &&
      counter_is_invariant() && kernel_uses_counter()) {
    const double ns_per_tick =
        static_cast<double>(now.ns - earlier.ns) / static_cast<double>(now.ticks - earlier.ticks);
    return {nullptr, ns_per_tick, shift_for(ns_per_tick)};
  }
#endif
  return {&monotonic_ns, 1.0, shift_for(1.0)};
}

}  // namespace memtrace
