// SPDX-License-Identifier: Apache-2.0
//
// Who uses how much of each device. Processes with the same MEMTRACE_SIM_SESSION share the devices:
// they keep a slot each in a file of shared memory, and what a dead process left is given back when
// somebody next needs it.
#pragma once

#include <cstdint>

namespace memtrace::simulator::capacity {

// Adds `bytes` to this process's use of the device if all processes together stay within `total`.
[[nodiscard]] bool take(int device, std::uint64_t bytes, std::uint64_t total);
void give_back(int device, std::uint64_t bytes);

// Bytes used by all live processes of the session, and by this one.
[[nodiscard]] std::uint64_t used(int device);
[[nodiscard]] std::uint64_t own(int device);

// Calls `visit(pid, bytes, context)` for each live process that uses the device.
void processes(int device, void (*visit)(std::int32_t pid, std::uint64_t bytes, void* context),
               void* context);

// In a forked child: nothing of the parent's is charged to the child.
void after_fork_in_child();

}  // namespace memtrace::simulator::capacity
