// SPDX-License-Identifier: Apache-2.0
//
// What our parser makes of allocator configurations. Reads one JSON array a line, ["start", TEXT]
// or ["change", TEXT] (of the settings as the line before left them), and prints a JSON object for
// each.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/model/allocator/settings.h"

namespace {

using nlohmann::json;
using namespace memtrace::allocator;

[[nodiscard]] json values(const settings& of) {
  return {{"max_split_size", of.max_split_size},
          {"large_segment_size", of.large_segment_size},
          {"max_non_split_rounding", of.max_non_split_rounding},
          {"garbage_collection_threshold", of.garbage_collection_threshold},
          {"roundup_power2_divisions", of.roundup_power2_divisions},
          {"expandable_segments", of.expandable_segments},
          {"memory_fraction", of.memory_fraction},
          {"pinned_use_cuda_host_register", of.pinned_use_cuda_host_register},
          {"pinned_num_register_threads", of.pinned_num_register_threads},
          {"pinned_use_background_threads", of.pinned_use_background_threads},
          {"pinned_reserve_segment_size", of.pinned_reserve_segment_size},
          {"release_lock_on_cudamalloc", of.release_lock_on_cudamalloc},
          {"graph_capture_record_stream_reuse", of.graph_capture_record_stream_reuse}};
}

}  // namespace

int main() {
  constexpr auto version = "2.11.0";
  settings now;
  for (std::string line; std::getline(std::cin, line);) {
    const auto asked = json::parse(line);
    const auto text = asked.at(1).get<std::string>();
    const auto read = asked.at(0) == "start" ? parse_settings(text, version)
                                             : change_settings(now, text, version);
    const auto* const why = std::get_if<refusal>(&read);
    now = why != nullptr ? why->left : std::get<settings>(read);
    json answer = {{"refused", why != nullptr ? json(why->what) : json()}, {"values", values(now)}};
    if (why == nullptr) {
      const auto again = parse_settings(to_text(now), version);
      answer["text_reads_the_same"] =
          std::holds_alternative<settings>(again) && std::get<settings>(again) == now;
    }
    std::cout << answer << '\n';
  }
}
