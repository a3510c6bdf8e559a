// SPDX-License-Identifier: Apache-2.0
//
// Libraries opened with RTLD_DEEPBIND find the CUDA library that they need before they find us:
// their tables are corrected afterwards. The real dlopen must be jumped to, or the caller's RUNPATH
// would not hold, so that happens when the program next looks something up by name, as it must to
// use what it opened, or opens another library. What a constructor of the library itself calls is
// missed. MEMTRACE_DEEP_BINDING=0 leaves the tables alone.
#pragma once

namespace memtrace::deep_binding {

// Before each dlopen of the program.
void before_open(bool binds_deep) noexcept;

// Whether an address is in a library that was bound deep: whose own scope comes before the global
// one when it looks something up.
[[nodiscard]] bool is_bound_deep(const void* address) noexcept;

// Corrects the tables of every library there is, and of all that are opened from now on: of a
// process that was started without us nobody is bound to us.
void bind_everything() noexcept;
[[nodiscard]] bool binds_everything() noexcept;

// Corrects what was opened since. One load where nothing was.
void look_if_due() noexcept;

}  // namespace memtrace::deep_binding
