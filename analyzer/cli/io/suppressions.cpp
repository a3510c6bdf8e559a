// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/io/suppressions.h"

#include <CLI/App.hpp>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <variant>

#include "analyzer/cli/io/log.h"

namespace memtrace::cli {

namespace {

constexpr const char* variable = "MEMTRACE_SUPPRESSIONS";

[[nodiscard]] std::optional<std::string> content_of(const std::string& file) {
  std::string text;
  errno = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "rb"),
                                                           &std::fclose);
  std::array<char, 4096> part;
  while (in != nullptr) {
    const auto bytes = std::fread(part.data(), 1, part.size(), in.get());
    text.append(part.data(), bytes);
    if (bytes == part.size()) continue;
    if (std::ferror(in.get()) == 0) return text;
    break;
  }
  log::error("{}: the suppressions cannot be read: {}", file,
             std::strerror(errno == 0 ? EIO : errno));
  return std::nullopt;
}

}  // namespace

void add_suppressions(CLI::App& app, std::string& file) {
  app.add_option("--suppressions", file, "Growth that is expected: lines growth: PATTERN  # why")
      ->type_name("FILE")
      ->envname(variable);
}

std::optional<std::vector<verdicts::expectation>> read_suppressions(const std::string& file) {
  if (file.empty()) return std::vector<verdicts::expectation>();
  const auto text = content_of(file);
  if (!text) return std::nullopt;
  auto read = verdicts::parse_suppressions(*text, file);
  if (const auto* const bad = std::get_if<verdicts::bad_line>(&read)) {
    log::error("{}:{}: {}", file, bad->line, bad->what);
    return std::nullopt;
  }
  return std::get<std::vector<verdicts::expectation>>(std::move(read));
}

std::vector<verdicts::expectation> suppressions_by_environment() {
  const char* const file = std::getenv(variable);
  return read_suppressions(file == nullptr ? std::string() : file)
      .value_or(std::vector<verdicts::expectation>());
}

}  // namespace memtrace::cli
