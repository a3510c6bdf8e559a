// SPDX-License-Identifier: Apache-2.0
//
// Writes the output of a command into the file that the user named.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace memtrace::cli {

// Into the file, or to standard output for "-". False, after one sentence on stderr, where that
// fails; without one where the reader of a pipe has gone.
[[nodiscard]] bool write_all(const std::string& path, const std::string& text);
// The same of a document, which is printed here and nowhere before.
[[nodiscard]] bool write_json(const std::string& path, const nlohmann::ordered_json& document);

// Before the work: whether a page, or an export, can be written there. False, after one sentence on
// stderr: there is something already, and `force` was not given.
[[nodiscard]] bool may_write(const std::string& path, bool force);

// The whole file or nothing; "-": to standard output. False, after one sentence on stderr, where
// that fails.
[[nodiscard]] bool write_page(const std::string& path, const std::string& page);

}  // namespace memtrace::cli
