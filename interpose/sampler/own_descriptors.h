// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace memtrace::sampler {

// Gives the calling thread an empty table of file descriptors of its own. What it opens then takes
// no number from the program (that closes 1 and opens a file expects to get 1), and it keeps no
// file of the program open. False where the kernel does not allow it: then nothing has changed.
[[nodiscard]] bool leave_shared_descriptors() noexcept;

}  // namespace memtrace::sampler
