// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/loader/unknown_names.h"

#include <array>
#include <atomic>
#include <cstdio>

#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/session/session.h"
#include "memtrace/trace_format.h"

namespace memtrace::unknown_names {
namespace {

struct unknown_name {
  std::array<char, 96> text{};
  int version = 0;
  why reason = why::unknown;
};

// A release brings some dozens; what does not fit is missing from the list, not from the program.
constexpr unsigned capacity = 256;
unknown_name names[capacity];
std::atomic<unsigned> name_count{0};
small_lock names_lock;

void record(recorder& to, const unknown_name& one) noexcept {
  to.operation({.what = format::operation::unknown_entry_point,
                .a = static_cast<std::uint64_t>(one.version),
                .b = static_cast<std::uint64_t>(one.reason),
                .text = one.text.data()});
}

// Null if it is there already, or there is no room.
const unknown_name* add(const char* name, int version, why reason) noexcept {
  unknown_name made{{}, version, reason};
  std::snprintf(made.text.data(), made.text.size(), "%s", name);
  const unsigned known = name_count.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < known; ++i) {
    if (names[i].reason == reason && names[i].text == made.text) return nullptr;
  }
  if (known == capacity) return nullptr;
  names[known] = made;
  name_count.store(known + 1, std::memory_order_release);
  return &names[known];
}

}  // namespace

void count(const char* name, int version, why reason) noexcept {
  // Not for ever: a thread may have held it when this process was forked off.
  if (!names_lock.try_lock_for(100)) return;
  const unknown_name* const added = add(name, version, reason);
  names_lock.unlock();
  recorder* const to = session::active();
  if (to != nullptr && added != nullptr) record(*to, *added);
}

void record_earlier(recorder& to) noexcept {
  const unsigned known = name_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < known; ++i) record(to, names[i]);
}

}  // namespace memtrace::unknown_names
