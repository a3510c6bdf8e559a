// SPDX-License-Identifier: Apache-2.0
//
// Whether a program's own dynamic linker could load a library: where it cannot (a C library that is
// too old, a library that is missing), it would end every process that the library is preloaded
// into, and that must not happen to a training.
#pragma once

#include <string>

namespace memtrace::cli {

// What the linker of `started` (a path, or a name on PATH; scripts are followed to their
// interpreter) says against `library`; "" where nothing, or where the linker is not known.
[[nodiscard]] std::string why_not_loadable(const std::string& started, const std::string& library);

}  // namespace memtrace::cli
