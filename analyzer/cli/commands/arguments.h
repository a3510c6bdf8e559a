// SPDX-License-Identifier: Apache-2.0
//
// Arguments that several subcommands take, in the same words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/plan/fit/plan.h"
#include "memtrace/gpu_models.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace memtrace::cli {

// Bytes of "24GiB", which the sentence names as an example. Nothing after one sentence on stderr.
[[nodiscard]] std::optional<std::uint64_t> size_in(std::string_view option, const std::string& text,
                                                   std::string_view such_as);

// As gpus::find; where a name stands for one of several sizes, a line says which. Null after one
// sentence on stderr.
[[nodiscard]] const gpu_model* find_gpu(const std::string& name);

// "rtx3090", "rtx3090:20GiB", "48GiB"; nothing after one sentence on stderr.
[[nodiscard]] std::optional<fit::gpu_choice> gpu_choice_named(const std::string& text);

// Seconds of --budget: "90", "90s", "10m", "2h"; nothing after one sentence on stderr.
[[nodiscard]] std::optional<double> seconds_of_budget(std::string_view text);

// --vary, and every combination of what it was given. False after one sentence on stderr.
CLI::Option* add_vary_option(CLI::App& app, std::vector<std::string>& vary);
[[nodiscard]] bool add_variants(const std::vector<std::string>& vary,
                                std::vector<std::string>& axes,
                                std::vector<fit::variant>& variants);

// --json: "Also write the report as JSON; …" where `what` is "the report".
CLI::Option* add_json_option(CLI::App& app, std::string& file, const std::string& what = "it");

// --html, which may stand without a file: see name_page.
CLI::Option* add_page_option(CLI::App& app, std::string& file, const std::string& said);

// "memtrace-report.html" behind an --html that no file follows: the end, another option, or the
// directory or trace that is meant to be read.
void name_page(const CLI::App& sub, std::vector<std::string>& arguments);

}  // namespace memtrace::cli
