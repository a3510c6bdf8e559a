// SPDX-License-Identifier: Apache-2.0
//
// Device memory that a library takes for itself: handles, workspaces, buffers. As on a machine with
// a GPU the library asks the driver for it, through the function that the program would get too,
// and the call comes from the library's own file.
#pragma once

#include <cstdint>

#include "simulator/core/device_memory.h"

namespace memtrace::simulator::own_memory {

// `library` is the beginning of the soname: "libcublas". The device needs an active context; the
// thread's current one stays. No bytes are success, without an address.
[[nodiscard]] bool take(const char* library, int device, std::uint64_t bytes, address_t& address);
void give_back(const char* library, int device, address_t address);

}  // namespace memtrace::simulator::own_memory
