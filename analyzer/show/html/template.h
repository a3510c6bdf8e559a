// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memtrace::html {

// Text from a traced program inside an HTML page.

// Between tags.
[[nodiscard]] std::string escaped_text(std::string_view text);

// A JSON document inside a script element: what could end the element, or a line of JavaScript,
// stands in strings only and is written there as \u003c and the like.
[[nodiscard]] std::string escaped_json(std::string_view document);

// The template with each token, which occurs once, replaced by its text.
[[nodiscard]] std::string filled(
    std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& tokens);

// page/dist/page.html, which is part of the command.
[[nodiscard]] std::string_view page_template();

}  // namespace memtrace::html
