// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/settings.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace memtrace::settings {
namespace {

bool is_enabled = false;
recording_mode chosen_mode = recording_mode::standard;
const char* unknown_mode = nullptr;
std::array<bool, capability_count> on{};
char output[PATH_MAX];
char log_target[PATH_MAX];

bool is_set(const char* value) noexcept {
  return value != nullptr && value[0] != '\0' && std::strcmp(value, "0") != 0;
}

bool is_zero(const char* value) noexcept {
  return value != nullptr && std::strcmp(value, "0") == 0;
}

void read_mode(const char* wanted) noexcept {
  chosen_mode = recording_mode::standard;
  unknown_mode = nullptr;
  if (wanted == nullptr || wanted[0] == '\0') return;
  const auto named = recording_mode_named(wanted);
  if (named.has_value()) {
    chosen_mode = *named;
  } else {
    unknown_mode = wanted;
  }
}

void read_capabilities() noexcept {
  for (std::size_t i = 0; i < capability_count; ++i) {
    const capability_row& row = capability_rows[i];
    const char* const own = std::getenv(row.variable);
    on[i] = own == nullptr || own[0] == '\0' ? is_on_by_default(row, chosen_mode) : !is_zero(own);
  }
}

void read_output(const char* wanted) noexcept {
  char start[PATH_MAX / 2];
  if (getcwd(start, sizeof start) == nullptr) std::strcpy(start, ".");
  if (wanted == nullptr || wanted[0] == '\0') {
    std::snprintf(output, sizeof output, "%s", start);
  } else if (wanted[0] == '/') {
    std::snprintf(output, sizeof output, "%s", wanted);
  } else {
    std::snprintf(output, sizeof output, "%s/%.2000s", start, wanted);
  }
}

}  // namespace

void read() noexcept {
  if (getauxval(AT_SECURE) != 0 || is_set(std::getenv("MEMTRACE_DISABLE"))) return;
  read_output(std::getenv("MEMTRACE_OUTPUT"));
  const char* target = std::getenv("MEMTRACE_LOG");
  std::snprintf(log_target, sizeof log_target, "%s", target == nullptr ? "" : target);
  read_mode(std::getenv("MEMTRACE"));
  read_capabilities();
  is_enabled = true;
}

bool enabled() noexcept {
  return is_enabled;
}
recording_mode mode() noexcept {
  return chosen_mode;
}
const char* mode_that_is_none() noexcept {
  return unknown_mode;
}
bool is_on(capability which) noexcept {
  return on[static_cast<std::size_t>(which)];
}
const char* output_directory() noexcept {
  return output;
}
const char* log() noexcept {
  return log_target;
}

}  // namespace memtrace::settings
