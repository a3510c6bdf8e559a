// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/gpus/gpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

#include "analyzer/base/text/nearest.h"
#include "analyzer/base/text/units.h"

namespace memtrace::gpus {

namespace {

// As people write them: "RTX 3090", "a100_80gb".
[[nodiscard]] std::string plain(std::string_view name) {
  std::string kept;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) kept += static_cast<char>(std::tolower(byte));
  }
  return kept;
}

}  // namespace

const gpu_model* find(std::string_view name) {
  const auto wanted = plain(name);
  const auto* found = std::ranges::find_if(
      known_gpus, [&](const gpu_model& known) { return plain(known.key) == wanted; });
  if (found == std::end(known_gpus)) {
    found = std::ranges::find_if(known_gpus, [&](const gpu_model& known) {
      const std::string_view key = known.key;
      const auto dash = key.find('-');
      return dash != key.npos && plain(key.substr(0, dash)) == wanted;
    });
  }
  return found == std::end(known_gpus) ? nullptr : found;
}

std::string unknown_gpu_sentence(std::string_view name) {
  if (text::parse_size(name) && !text::has_no_unit(name)) {
    return fmt::format("--gpu takes a model, and {} is a size: --memory {} gives the GPU as much",
                       name, name);
  }
  constexpr std::size_t suggestions = 3;
  std::vector<gpu_model> nearest(std::begin(known_gpus), std::end(known_gpus));
  const auto wanted = plain(name);
  std::ranges::stable_sort(nearest, {}, [&](const gpu_model& known) {
    const auto key = plain(known.key);
    const bool part = key.find(wanted) != key.npos || wanted.find(key) != wanted.npos;
    return part ? 0 : text::edit_distance(wanted, key);
  });
  std::string list;
  for (std::size_t i = 0; i < suggestions; ++i) {
    list += (i == 0 ? "" : i + 1 == suggestions ? " or " : ", ");
    list += nearest[i].key;
  }
  return fmt::format("there is no GPU {} to simulate; the nearest are {}, --gpu list prints all",
                     name, list);
}

void print_gpus(std::FILE* out) {
  constexpr double gibibyte = 1u << 30;
  for (const auto& known : known_gpus) {
    fmt::print(out, "{:<10} {:>6.1f} GiB  {}\n", known.key,
               static_cast<double>(known.total_bytes) / gibibyte, known.name);
  }
}

}  // namespace memtrace::gpus
