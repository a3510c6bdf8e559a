// SPDX-License-Identifier: Apache-2.0
//
// The device code of a compiled file, as far as one has to know it: for which architectures it was
// compiled. CUB picks its parameters by that, and refuses an architecture that is not in its list.
#pragma once

namespace memtrace::simulator::fat_binaries {

// Of the architectures in a fat binary (86 stands for 8.6) the one that a GPU of this capability
// would run: the highest up to its own, else the lowest. `wrapper` is what a compiled file hands to
// __cudaRegisterFatBinary; the capability itself where nothing can be read there, or null.
[[nodiscard]] int architecture_for(const void* wrapper, int capability);

}  // namespace memtrace::simulator::fat_binaries
