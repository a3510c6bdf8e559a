// SPDX-License-Identifier: Apache-2.0
//
// Modules, libraries and their functions: handles for device code that is never looked at. A module
// has every function that is asked of it, since its image would have to be parsed to know better.
#pragma once

#include <cuda.h>

namespace memtrace::simulator::modules {

// Loaded code costs the device nothing here: its size depends on driver and GPU.
[[nodiscard]] CUmodule load();
// False for a handle that is none.
[[nodiscard]] bool unload(CUmodule module);

// The same handle for the same name; null for a handle that is none. It lives as long as the
// module.
[[nodiscard]] CUfunction function(CUmodule module, const char* name);

[[nodiscard]] const char* name_of(CUfunction function);
[[nodiscard]] CUmodule module_of(CUfunction function);

// A global variable of the module: device memory of `bytes`, made when first asked for. 0 if there
// is no room.
[[nodiscard]] CUdeviceptr global(CUmodule module, const char* name, int device, std::size_t& bytes);

// The dynamic shared memory that a function was set to use; 0 bytes at first.
[[nodiscard]] int attribute(CUfunction function, CUfunction_attribute which);
void set_attribute(CUfunction function, CUfunction_attribute which, int value);

}  // namespace memtrace::simulator::modules
