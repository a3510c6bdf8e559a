// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace memtrace {

// Gives the calling thread, one of ours, a table of file descriptors of its own, with nothing in it
// but `kept` (-1: nothing). What it opens then takes no number from the program (that closes 1 and
// opens a file expects to get 1), and it keeps no file of the program open. False where the kernel
// does not allow it: then nothing that counts has changed.
[[nodiscard]] bool leave_shared_descriptors(int kept = -1) noexcept;

}  // namespace memtrace
