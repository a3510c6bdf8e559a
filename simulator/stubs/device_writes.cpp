// SPDX-License-Identifier: Apache-2.0
#include "simulator/stubs/device_writes.h"

#include "simulator/core/contents.h"
#include "simulator/core/device_memory.h"

namespace memtrace::simulator {

bool is_on_device(std::uint64_t address) {
  return is_device_address(address);
}

void zero_on_device(std::uint64_t address, std::size_t bytes) {
  contents::computed_from(address, bytes);
  contents::zero(address, bytes);
}

void computed_on_device(std::uint64_t address) {
  contents::computed_from(address);
}

}  // namespace memtrace::simulator
