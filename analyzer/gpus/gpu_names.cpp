// SPDX-License-Identifier: Apache-2.0
#include "analyzer/gpus/gpu_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <vector>

namespace memtrace::gpus {

namespace {

struct gpu {
  std::string_view key;
  std::string_view product;
  unsigned mebibytes;
};

constexpr std::array gpus = {
#define MEMTRACE_GPU(key, name, total, nvml, major, minor, sm, l2, bus, clock, memory_clock) \
  gpu{key, name, total},
#include "memtrace/gpu_models.def"
#undef MEMTRACE_GPU
};

[[nodiscard]] std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const auto replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

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

bool knows_gpu(std::string_view name) {
  return std::ranges::find(gpus, name, &gpu::key) != gpus.end();
}

std::optional<std::uint64_t> gpu_memory(std::string_view name) {
  const auto* const found = std::ranges::find(gpus, name, &gpu::key);
  if (found == gpus.end()) return std::nullopt;
  return std::uint64_t{found->mebibytes} << 20;
}

std::string unknown_gpu_sentence(std::string_view name) {
  constexpr std::size_t suggestions = 3;
  auto nearest = gpus;
  const auto wanted = plain(name);
  std::ranges::stable_sort(nearest, {}, [&](const gpu& known) {
    const auto key = plain(known.key);
    const bool part = key.find(wanted) != key.npos || wanted.find(key) != wanted.npos;
    return part ? 0 : edit_distance(wanted, key);
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
  for (const auto& known : gpus) {
    fmt::print(out, "{:<10} {:>6.1f} GiB  {}\n", known.key, known.mebibytes / 1024.0,
               known.product);
  }
}

bool is_memory_size(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
  if (digits == 0 || text[0] == '.') return false;
  if (text.substr(0, digits).find_first_of("123456789") == text.npos) return false;
  auto unit = text.substr(digits);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit.empty()) return text.find('.') == text.npos;
  constexpr std::string_view prefixes = "KMGTkmgt";
  if (prefixes.find(unit[0]) == prefixes.npos) return false;
  const auto rest = unit.substr(1);
  return rest.empty() || rest == "iB" || rest == "ib" || rest == "B" || rest == "i";
}

std::optional<std::uint64_t> memory_size(std::string_view text) {
  if (!is_memory_size(text)) return std::nullopt;
  const std::string number(text);
  char* end = nullptr;
  auto bytes = std::strtod(number.c_str(), &end);
  while (*end == ' ') ++end;
  constexpr std::string_view prefixes = "kmgt";
  const auto unit =
      prefixes.find(static_cast<char>(std::tolower(static_cast<unsigned char>(*end))));
  if (*end != '\0' && unit != prefixes.npos) {
    for (std::size_t i = 0; i <= unit; ++i) bytes *= 1024;
  }
  constexpr double most = 1e15;
  if (!(bytes >= 1 && bytes <= most)) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace memtrace::gpus
