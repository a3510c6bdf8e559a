// SPDX-License-Identifier: Apache-2.0
#include "analyzer/show/what_if/runs.h"

#include <fmt/core.h>

#include <algorithm>

namespace memtrace::what_if {

namespace {

// Garbage is collected only below a memory fraction of less than 1.
constexpr std::string_view usual[] = {
    "",
    "expandable_segments:True",
    "max_split_size_mb:32",
    "max_split_size_mb:128",
    "max_split_size_mb:512",
    "roundup_power2_divisions:2",
    "roundup_power2_divisions:8",
    "large_segment_size_mb:64",
    "garbage_collection_threshold:0.8,per_process_memory_fraction:0.98",
};

[[nodiscard]] std::string refusal_of(const std::string& text, std::string_view torch_version,
                                     const std::string& words) {
  const auto version =
      torch_version.empty() ? std::string("PyTorch") : fmt::format("PyTorch {}", torch_version);
  return fmt::format(
      "{} refuses --alloc-conf '{}': {}; write KEY:VALUE,KEY:VALUE as in "
      "expandable_segments:True,max_split_size_mb:128",
      version, text, words);
}

}  // namespace

options_to_try choose_options(const std::vector<std::string>& asked,
                              std::string_view torch_version) {
  options_to_try chosen;
  const bool are_asked_for = !asked.empty();
  const auto add = [&](const std::string& text) {
    const auto read = allocator::parse_settings(text, torch_version);
    if (const auto* const why = std::get_if<allocator::refusal>(&read)) {
      if (are_asked_for) chosen.refusal = refusal_of(text, torch_version, why->what);
      return !are_asked_for;
    }
    const auto& settings = std::get<allocator::settings>(read);
    if (settings.backend != allocator::backend::native) {
      chosen.refusal = fmt::format(
          "--alloc-conf '{}' leaves memory to CUDA's own allocator, whose rules are "
          "not public; replay options of PyTorch's native one",
          text);
      return false;
    }
    const bool known = std::ranges::any_of(
        chosen.options, [&](const option_to_try& other) { return other.settings == settings; });
    if (!known) chosen.options.push_back({text, settings});
    return true;
  };
  if (are_asked_for) {
    for (const auto& text : asked) {
      if (!add(text)) break;
    }
  } else {
    for (const auto text : usual) add(std::string(text));
  }
  return chosen;
}

}  // namespace memtrace::what_if
