// SPDX-License-Identifier: Apache-2.0
//
// What --help prints, at most 80 columns wide, and what is known about an option besides: all of it
// read from CLI11's own tree, which the completions and the man page are made from, too.
#pragma once

#include <CLI/App.hpp>
#include <CLI/FormatterFwd.hpp>
#include <CLI/Validators.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace memtrace::cli::help {

constexpr std::size_t widest = 80;

class page final : public CLI::FormatterBase {
 public:
  // `follows`: what stands after "memtrace NAME"; empty: [OPTIONS] and the positionals.
  explicit page(std::string follows) : follows_(std::move(follows)) {}
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
  [[nodiscard]] const std::string& follows() const { return follows_; }

 private:
  std::string follows_;
};

// "[OPTIONS] -- COMMAND…"
[[nodiscard]] std::string usage_of(const CLI::App& app);

[[nodiscard]] std::vector<const CLI::Option*> options_of(const CLI::App& app);
[[nodiscard]] std::vector<const CLI::Option*> positionals_of(const CLI::App& app);
// Those that the help lists, in its order.
[[nodiscard]] std::vector<const CLI::App*> subcommands_of(const CLI::App& app);

[[nodiscard]] bool is_flag(const CLI::Option& option);
// "FILE", "TRACE…"; empty of a flag.
[[nodiscard]] std::string value_of(const CLI::Option& option);
// "--json FILE", "TRACE…"
[[nodiscard]] std::string left_of(const CLI::Option& option);
// "How many of them (0 to 16, default 1)"
[[nodiscard]] std::string said_of(const CLI::Option& option);
// The values that an option takes, where these are all; empty: any.
[[nodiscard]] std::vector<std::string> choices_of(const CLI::Option& option);

// For an option whose command itself says what it does not take: makes the values known, and
// refuses none.
[[nodiscard]] CLI::Validator known_values(const std::vector<std::string>& values);

// "  --json FILE          Also write …", what is said in a column of its own.
[[nodiscard]] std::string entry(const std::string& left, const std::string& said);

}  // namespace memtrace::cli::help
