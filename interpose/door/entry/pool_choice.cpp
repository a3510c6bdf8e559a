// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/entry/pool_choice.h"

#include <utility>

namespace memtrace::pool_choice {
namespace {

thread_local constinit pool_id chosen{};

}  // namespace

filter watched(filter original, pool_id pool) {
  return [original = std::move(original), pool](void* stream) {
    const bool taken = original(stream);
    if (taken) chosen = pool;
    return taken;
  };
}

void complete(allocator_event& event) noexcept {
  switch (event.kind) {
    case format::kind::segment_alloc:
    case format::kind::segment_map:
      event.pool = chosen;
      break;
    case format::kind::alloc:
    case format::kind::oom:
      event.pool = std::exchange(chosen, {});
      break;
    default:
      break;  // a release that makes room: of any pool
  }
}

}  // namespace memtrace::pool_choice
