// SPDX-License-Identifier: Apache-2.0
//
// The names of NVTX domains, ranges and marks.
#pragma once

#include "interpose/door/api/names.h"
#include "interpose/door/api/nvtx.h"

namespace memtrace::nvtx {

// Null for an empty text.
[[nodiscard]] const names::name* name_of(const char* text) noexcept;
[[nodiscard]] const names::name* name_of(const wchar_t* text) noexcept;

// The message of a range or mark, after "domain: " where there is a domain.
[[nodiscard]] const names::name* name_of(const handle* domain,
                                         const event_attributes* attributes) noexcept;

// Domains and registered texts go to the program as handles.
[[nodiscard]] const handle* handle_of(const names::name* text) noexcept;
[[nodiscard]] const handle* handle_of_domain(const names::name* text) noexcept;
// Whether a domain is one of NVIDIA's libraries.
[[nodiscard]] bool is_library(const handle* domain) noexcept;

}  // namespace memtrace::nvtx
