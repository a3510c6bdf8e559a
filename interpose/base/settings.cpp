// SPDX-License-Identifier: Apache-2.0
#include "interpose/base/settings.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace memtrace::settings {
namespace {

bool is_enabled = false;
bool takes_samples = false;
bool takes_native_stacks = false;
bool takes_censuses = false;
bool census_on_signal = false;
bool wants_witness = false;
char output[PATH_MAX];
char log_target[PATH_MAX];

bool is_set(const char* value) noexcept {
  return value != nullptr && value[0] != '\0' && std::strcmp(value, "0") != 0;
}

bool is_zero(const char* value) noexcept {
  return value != nullptr && std::strcmp(value, "0") == 0;
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
  takes_censuses = !is_zero(std::getenv("MEMTRACE_CENSUS"));
  census_on_signal = takes_censuses && !is_zero(std::getenv("MEMTRACE_CENSUS_SIGNAL"));
  const char* const sampling = std::getenv("MEMTRACE_SAMPLING");
  takes_samples = sampling == nullptr || std::strcmp(sampling, "0") != 0;
  wants_witness = is_set(std::getenv("MEMTRACE_CUPTI"));
  takes_native_stacks = is_set(std::getenv("MEMTRACE_NATIVE_STACKS"));
  is_enabled = true;
}

bool enabled() noexcept {
  return is_enabled;
}
bool censuses() noexcept {
  return takes_censuses;
}
bool samples() noexcept {
  return takes_samples;
}
bool second_witness() noexcept {
  return wants_witness;
}
bool native_stacks() noexcept {
  return takes_native_stacks;
}
bool listens_for_signal() noexcept {
  return census_on_signal;
}
const char* output_directory() noexcept {
  return output;
}
const char* log() noexcept {
  return log_target;
}

}  // namespace memtrace::settings
