// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/code_deaths.h"

namespace memtrace::python_stack {

constinit code_deaths the_code_deaths;

namespace {

using dealloc_function = void (*)(address);

dealloc_function original_dealloc = nullptr;

// May run Python (a destructor of what the code holds), which may throw no C++ exception.
void dealloc(address code) {
  the_code_deaths.died(code);
  original_dealloc(code);
}

}  // namespace

void code_deaths::remember(address code) noexcept {
  const std::size_t bit = bit_of(code);
  const std::uint64_t mask = 1ull << (bit % 64);
  std::atomic<std::uint64_t>& word = filter_[bit / 64];
  if ((word.load(std::memory_order_relaxed) & mask) == 0) word.fetch_or(mask);
}

void code_deaths::died(address code) noexcept {
  const std::size_t bit = bit_of(code);
  const std::uint64_t word = filter_[bit / 64].load(std::memory_order_relaxed);
  if ((word & (1ull << (bit % 64))) == 0) return;
  while (writing_.test_and_set(std::memory_order_acquire)) {
  }
  const std::uint32_t number = count_.load(std::memory_order_relaxed);
  ring_[number % remembered].store(code, std::memory_order_relaxed);
  count_.store(number + 1, std::memory_order_release);
  writing_.clear(std::memory_order_release);
}

bool code_deaths::died_since(std::uint32_t seen, std::uint32_t now,
                             std::array<address, remembered>& into,
                             std::uint32_t& filled) const noexcept {
  filled = 0;
  for (std::uint32_t number = seen; number != now; ++number) {
    if (filled == remembered) return false;
    into[filled++] = ring_[number % remembered].load(std::memory_order_acquire);
  }
  // One being written now may stand in the oldest place; its count is read after it.
  return count_.load(std::memory_order_relaxed) - seen < remembered;
}

void watch_code_deaths(address code_type) noexcept {
  auto* const slot = reinterpret_cast<dealloc_function*>(code_type + object::type_dealloc);
  original_dealloc = *slot;
  *slot = dealloc;
}

}  // namespace memtrace::python_stack
