// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace memtrace::html {

// page/dist/page.html, which is part of the command.
[[nodiscard]] std::string_view page_template();

}  // namespace memtrace::html
