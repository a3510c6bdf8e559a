// SPDX-License-Identifier: Apache-2.0
#pragma once

// A function that the dynamic linker finds in libmemtrace.so. Not noexcept: exceptions of the
// traced program pass through.
#define MEMTRACE_EXPORTED extern "C" [[gnu::visibility("default")]]
