// SPDX-License-Identifier: Apache-2.0
//
// From where a dry run reads what its GPU does not know, once for each place: info `unknown_read`.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/base/exported.h"
#include "interpose/ground/base/small_lock.h"
#include "interpose/ground/driver/native_stack.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/python/python_stack.h"
#include "memtrace/trace_format.h"

namespace memtrace {

namespace {

struct known_places {
  small_lock lock;
  std::uint32_t generation = 0;  // of the recorder whose stacks they are
  std::size_t count = 0;
  // What is beyond is left out: a program has some tens.
  std::array<stack_id, 1024> stacks{};
};
constinit known_places told;

bool is_new(std::uint32_t generation, stack_id from) noexcept {
  // A forked child may have been left with it.
  if (!told.lock.try_lock_for(10)) return false;
  if (told.generation != generation) {
    told.generation = generation;
    told.count = 0;
  }
  const auto end = told.stacks.begin() + told.count;
  const bool is_new =
      told.count < told.stacks.size() && std::find(told.stacks.begin(), end, from) == end;
  if (is_new) told.stacks[told.count++] = from;
  told.lock.unlock();
  return is_new;
}

}  // namespace

// Called by the simulated GPU in the thread that reads; `operation` is PyTorch's operator, "" where
// the stack says which.
MEMTRACE_EXPORTED void memtrace_unknown_read(const char* operation) {
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  if (to == nullptr) return;
  const stack_id from = native_stack::capture(*to, python_stack::capture_place(*to).stack);
  if (from == 0 || !is_new(to->generation(), from)) return;
  std::array<char, 80> text;
  const int length = std::snprintf(text.data(), text.size(), "%u %.48s", from, operation);
  to->info(format::info_key::unknown_read, {text.data(), static_cast<std::size_t>(length)});
}

}  // namespace memtrace
