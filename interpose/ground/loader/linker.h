// SPDX-License-Identifier: Apache-2.0
//
// The dynamic linker's functions behind the ones that we export (linker_entry.S).
#pragma once

namespace memtrace::linker {

using find_symbol = void*(void* handle, const char* name);
using find_versioned_symbol = void*(void* handle, const char* name, const char* version);
using open_library = void*(const char* file, int mode);

// Where the program's calls go on to: another library's that stands behind us, else the C
// library's own.
[[nodiscard]] find_symbol* next_dlsym() noexcept;
[[nodiscard]] find_versioned_symbol* next_dlvsym() noexcept;
[[nodiscard]] open_library* next_dlopen() noexcept;

}  // namespace memtrace::linker
