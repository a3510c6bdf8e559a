// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/device/shared_memory.h"

#include <algorithm>
#include <iterator>

#include "memtrace/cuda_calls.h"

namespace memtrace::device {

void shared_memory_collector::on_cuda_call(const trace::event& head,
                                           const trace::cuda_call_event& call) {
  using format::cuda_effect;
  if (call.error != 0) return;
  switch (format::effect_of(names_[call.api])) {
    case cuda_effect::device:
      // Where calls of the runtime and the driver nest, the outer one may be recorded, too.
      allocations_[call.address] = {call.size, head.device};
      break;
    case cuda_effect::release:
      allocations_.erase(call.address);
      break;
    case cuda_effect::exported: {
      // Any address inside stands for the whole allocation.
      const auto after = allocations_.upper_bound(call.address);
      range whole{0, head.device};
      if (after != allocations_.begin()) {
        const auto& [begin, found] = *std::prev(after);
        if (call.address - begin < found.bytes) whole = found;
      }
      exported_[call.handle] = whole;
      break;
    }
    case cuda_effect::foreign:
    case cuda_effect::foreign_physical: {
      auto& bytes = opened_[{call.handle, head.device}];
      bytes = std::max(bytes, call.size);
      break;
    }
    default:
      break;
  }
}

shared_memory shared_memory_collector::found() const {
  shared_memory all;
  for (const auto& [handle, whole] : exported_) {
    all.exported.push_back({handle, whole.device, whole.bytes});
  }
  for (const auto& [key, bytes] : opened_) {
    all.opened.push_back({key.first, key.second, bytes});
  }
  return all;
}

}  // namespace memtrace::device
