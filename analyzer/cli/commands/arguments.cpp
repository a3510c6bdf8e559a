// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/commands/arguments.h"

#include <fmt/core.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "analyzer/base/gpus/gpus.h"
#include "analyzer/base/text/numbers.h"
#include "analyzer/base/text/units.h"
#include "analyzer/cli/help/page.h"
#include "analyzer/cli/io/log.h"
#include "analyzer/plan/fit/launch.h"

namespace memtrace::cli {

namespace {

constexpr char page_option[] = "--html";

// The size that is left out of a name: "h100" of "h100-80".
[[nodiscard]] std::string_view family_of(std::string_view key) {
  return key.substr(0, key.find('-'));
}

[[nodiscard]] bool is_to_be_read(const std::string& argument) {
  std::error_code failed;
  const bool is_folder = std::filesystem::is_directory(argument, failed);
  return is_folder || (argument.ends_with(".mtrace") && std::filesystem::exists(argument, failed));
}

}  // namespace

std::optional<std::uint64_t> size_in(std::string_view option, const std::string& text,
                                     std::string_view such_as) {
  if (text::has_no_unit(text)) {
    log::error("{0} {1} has no unit; write it with one, such as {0} {2} (bytes: {1}B)", option,
               text, such_as);
    return std::nullopt;
  }
  const auto bytes = text::parse_size(text);
  if (!bytes) {
    log::error("{0} {1} is no size; write a number with its unit, such as {0} {2}", option, text,
               such_as);
  }
  return bytes;
}

const gpu_model* find_gpu(const std::string& name) {
  const auto* const found = gpus::find(name);
  if (found == nullptr) {
    log::error("{}", gpus::unknown_gpu_sentence(name));
    return nullptr;
  }
  const auto family = family_of(found->key);
  if (family == found->key || name.find_first_of("-_ ", family.size()) != name.npos) return found;
  std::string others;
  for (const auto& known : known_gpus) {
    if (&known == found || family_of(known.key) != family) continue;
    others += (others.empty() ? "" : ", ") + std::string(known.key);
  }
  if (!others.empty()) {
    log::note("--gpu {} is taken as {}; there is {}, too", name, found->key, others);
  }
  return found;
}

CLI::Option* add_json_option(CLI::App& app, std::string& file, const std::string& what) {
  return app
      .add_option("--json", file, fmt::format("Also write {} as JSON; - for standard output", what))
      ->type_name("FILE");
}

CLI::Option* add_page_option(CLI::App& app, std::string& file, const std::string& said) {
  return app
      .add_option(page_option, file,
                  fmt::format("{}; memtrace-{}.html if not named, - for standard output", said,
                              app.get_name()))
      ->type_name("[FILE]");
}

void name_page(const CLI::App& sub, std::vector<std::string>& arguments) {
  const auto* const option = sub.get_option_no_throw(page_option);
  if (option == nullptr || help::is_flag(*option)) return;
  const auto at = std::ranges::find(arguments, page_option);
  if (at == arguments.end()) return;
  const auto next = at + 1;
  const bool is_named = next != arguments.end() && (!next->starts_with('-') || *next == "-");
  const bool has_place = !help::positionals_of(sub).empty();  // where a trace is looked for
  if (is_named && !(has_place && is_to_be_read(*next))) return;
  *at = fmt::format("{}=memtrace-{}.html", page_option, sub.get_name());
}

std::optional<fit::gpu_choice> gpu_choice_named(const std::string& text) {
  fit::gpu_choice made;
  made.label = text;
  const auto colon = text.find(':');
  auto name = text.substr(0, colon);
  const auto written = colon == text.npos ? text : text.substr(colon + 1);
  const auto size = text::parse_size(written);
  if (colon == text.npos && size) name = "rtx3090";
  const bool lacks_unit = size && text::has_no_unit(written);
  if ((colon != text.npos && !size) || lacks_unit) {
    log::error("--gpu {}: write NAME, NAME:24GiB or 24GiB, a size with its unit", text);
    return std::nullopt;
  }
  const auto* const gpu = find_gpu(name);
  if (gpu == nullptr) return std::nullopt;
  made.model = gpu->key;
  made.total_bytes = size ? *size : gpu->total_bytes;
  made.capability = gpu->capability_major * 10 + gpu->capability_minor;
  return made;
}

std::optional<double> seconds_of_budget(std::string_view text) {
  const auto given = text;
  double unit = 1;
  if (text.ends_with('s')) {
    text.remove_suffix(1);
  } else if (text.ends_with('m')) {
    unit = 60;
    text.remove_suffix(1);
  } else if (text.ends_with('h')) {
    unit = 3600;
    text.remove_suffix(1);
  }
  const auto number = text::number_in(text);
  if (!number || *number == 0) {
    log::error("--budget {}: write 90s, 10m or 2h", given);
    return std::nullopt;
  }
  return unit * static_cast<double>(*number);
}

CLI::Option* add_vary_option(CLI::App& app, std::vector<std::string>& vary) {
  return app
      .add_option("--vary", vary,
                  "A further axis: 'precision=--bf16|--fp16|', with nothing for the command as it "
                  "is; several make every combination")
      ->type_name("AXIS")
      ->allow_extra_args(false);
}

bool add_variants(const std::vector<std::string>& vary, std::vector<std::string>& axes,
                  std::vector<fit::variant>& variants) {
  std::vector<fit::axis> read;
  for (const auto& text : vary) {
    auto parsed = fit::axis_in(text);
    if (auto* const wrong = std::get_if<fit::complaint>(&parsed)) {
      log::error("{}", wrong->sentence);
      return false;
    }
    read.push_back(std::get<fit::axis>(std::move(parsed)));
    axes.push_back(read.back().name);
  }
  variants = fit::combinations(read);
  return true;
}

}  // namespace memtrace::cli
