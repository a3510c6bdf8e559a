// SPDX-License-Identifier: Apache-2.0
//
// Whether a program's own dynamic linker could load a library: where it cannot (a C library that is
// too old, a library that is missing), it would end every process that the library is preloaded
// into, and that must not happen to a training.
#pragma once

#include <string>

namespace memtrace::cli {

// The file that a name on PATH, or a path, stands for; "" where there is none.
[[nodiscard]] std::string on_path(const std::string& name);

// The dynamic linker of what the kernel starts for `started`, scripts being followed to their
// interpreter; "" where it is linked statically, or no program.
[[nodiscard]] std::string dynamic_linker_of(const std::string& started);

// What the linker of `started` says against `library`; "" where nothing, or where the linker is not
// known.
[[nodiscard]] std::string why_not_loadable(const std::string& started, const std::string& library);

}  // namespace memtrace::cli
