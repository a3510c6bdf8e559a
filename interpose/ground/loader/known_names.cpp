// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/loader/known_names.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "memtrace/cuda_calls.h"

namespace memtrace {
namespace {

enum class threads : std::uint8_t { none, ptsz, ptds };

struct driver_function {
  std::string_view name;
  threads variant;
  std::array<int, 4> versions;  // 0: no more
};

// Both are in the order of their names, as bytes.
constexpr driver_function driver_functions[] = {
#define DRIVER(name, variant, ...) {#name, threads::variant, {__VA_ARGS__}},
#include "interpose/ground/loader/known_names.def"
};

constexpr std::string_view other_functions[] = {
#define RUNTIME(name) #name,
#include "interpose/ground/loader/known_names.def"
};

static_assert(std::is_sorted(std::begin(driver_functions), std::end(driver_functions),
                             [](const auto& one, const auto& next) {
                               return one.name < next.name;
                             }));
static_assert(std::is_sorted(std::begin(other_functions), std::end(other_functions)));

constexpr int known_version =
#define RELEASE(number) number
#include "interpose/ground/loader/known_names.def"
    ;

const driver_function* find_driver_function(std::string_view name) noexcept {
  const auto* const found = std::lower_bound(
      std::begin(driver_functions), std::end(driver_functions), name,
      [](const driver_function& one, std::string_view wanted) { return one.name < wanted; });
  return found != std::end(driver_functions) && found->name == name ? found : nullptr;
}

driver_symbol nth_symbol(const driver_function& function, int nth, bool per_thread) noexcept {
  const char* thread = "";
  if (per_thread && function.variant == threads::ptsz) thread = "_ptsz";
  if (per_thread && function.variant == threads::ptds) thread = "_ptds";
  char version[16] = "";
  if (nth > 1) std::snprintf(version, sizeof version, "_v%d", nth);
  driver_symbol made;
  const int length =
      std::snprintf(made.text.data(), made.text.size(), "%.*s%s%s",
                    static_cast<int>(function.name.size()), function.name.data(), version, thread);
  if (length < 0 || static_cast<std::size_t>(length) >= made.text.size()) made.text[0] = '\0';
  return made;
}

}  // namespace

bool is_known_name(std::string_view name) noexcept {
  if (name.empty()) return true;  // what NVIDIA's runtime asks for first
  const std::string_view base = format::base_name(name);
  return find_driver_function(base) != nullptr ||
         std::binary_search(std::begin(other_functions), std::end(other_functions), base);
}

driver_symbol symbol_of_version(std::string_view name, int version,
                                bool per_thread_stream) noexcept {
  const driver_function* const function = find_driver_function(name);
  if (function == nullptr || version > known_version) return {};
  int nth = 0;
  for (const int from : function->versions) {
    if (from == 0 || from > version) break;
    ++nth;
  }
  return nth == 0 ? driver_symbol{} : nth_symbol(*function, nth, per_thread_stream);
}

driver_symbol only_symbol(std::string_view name, bool per_thread_stream) noexcept {
  const driver_function* const function = find_driver_function(name);
  if (function == nullptr || function->versions[1] != 0) return {};
  return nth_symbol(*function, 1, per_thread_stream);
}

}  // namespace memtrace
