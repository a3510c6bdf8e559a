// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/config.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "simulator/log/log.h"

namespace memtrace::simulator {
namespace {

constexpr std::string_view constant_names[] = {
#define MEMTRACE_CONSTANT(name, bytes, source) #name,
#include "simulator/constants.def"
};

constexpr std::uint64_t constant_defaults[] = {
#define MEMTRACE_CONSTANT(name, bytes, source) bytes,
#include "simulator/constants.def"
};

struct measured_constant {
  int capability;
  constant_id which;
  std::uint64_t bytes;
};
constexpr measured_constant measured_constants[] = {
#define MEMTRACE_MEASURED(capability, name, bytes, source) {capability, constant_id::name, bytes},
#include "simulator/constants.def"
};

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The simulator cannot go on with a model or size that it does not understand: a run on another
// GPU than the one asked for would be worse than none.
[[noreturn]] void refuse(const char* what, const char* value) {
  log::refuse("{}: \"{}\"", what, value);
}

void tell(const configuration& chosen) {
  log::info("simulates {} x {} ({}), {} bytes each; session {}", chosen.devices, chosen.model.name,
            chosen.model.key, chosen.model.total_bytes,
            chosen.session.empty() ? "of its own" : chosen.session.c_str());
  for (std::size_t i = 0; i < std::size(constant_names); ++i) {
    if (chosen.constants[i] == constant_defaults[i]) continue;
    log::debug("{} = {} instead of {}", constant_names[i], chosen.constants[i],
               constant_defaults[i]);
  }
}

__attribute__((constructor)) void tell_loaded() {
  if (!log::wants(log_level::debug)) return;
  Dl_info self{};
  dladdr(reinterpret_cast<void*>(&tell_loaded), &self);
  log::debug("simulated CUDA {} in {}: {}", MEMTRACE_CUDA_VERSION, program_invocation_short_name,
             self.dli_fname == nullptr ? "?" : self.dli_fname);
}

gpu_model chosen_model() {
  const char* key = variable("MEMTRACE_SIM_GPU");
  if (*key == '\0') key = "rtx3090";
  const auto* const found = std::ranges::find(known_gpus, std::string_view(key), &gpu_model::key);
  if (found == std::end(known_gpus)) refuse("unknown simulated GPU in MEMTRACE_SIM_GPU", key);
  gpu_model model = *found;
  if (const char* memory = variable("MEMTRACE_SIM_MEMORY"); *memory != '\0') {
    const std::uint64_t bytes = parse_size(memory);
    if (bytes == 0) refuse("no size in MEMTRACE_SIM_MEMORY", memory);
    model.total_bytes = bytes;
    model.nvml_bytes = bytes;
  }
  return model;
}

int chosen_devices() {
  const char* text = variable("MEMTRACE_SIM_DEVICES");
  if (*text == '\0') return 1;
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  if (*end != '\0' || count < 0 || count > maximum_devices) {
    refuse("MEMTRACE_SIM_DEVICES takes 0 to 16", text);
  }
  return static_cast<int>(count);
}

// "name=bytes,name=bytes"
void override_constants(configuration& result, std::string_view text) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    const std::string value(equals == std::string_view::npos ? "" : item.substr(equals + 1));
    const auto name =
        std::find(std::begin(constant_names), std::end(constant_names), item.substr(0, equals));
    const bool zero = value == "0";
    const std::uint64_t bytes = parse_size(value.c_str());
    if (name == std::end(constant_names) || (bytes == 0 && !zero)) {
      refuse("MEMTRACE_SIM_CONSTANTS does not understand", std::string(item).c_str());
    }
    result.constants[name - std::begin(constant_names)] = bytes;
  }
}

configuration read_configuration() {
  configuration result{};
  result.model = chosen_model();
  result.devices = chosen_devices();
  result.log_path = variable("MEMTRACE_SIM_LOG");
  result.session = variable("MEMTRACE_SIM_SESSION");
  std::copy(std::begin(constant_defaults), std::end(constant_defaults), result.constants);
  const int capability = result.model.capability_major * 10 + result.model.capability_minor;
  for (const auto& one : measured_constants) {
    if (one.capability == capability) result.constants[static_cast<int>(one.which)] = one.bytes;
  }
  override_constants(result, variable("MEMTRACE_SIM_CONSTANTS"));
  tell(result);
  return result;
}

}  // namespace

std::uint64_t parse_size(const char* text) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (end == text || !(number > 0)) return 0;
  while (*end == ' ') ++end;
  const char unit = static_cast<char>(std::tolower(static_cast<unsigned char>(*end)));
  const char* units = "kmgt";
  double scale = 1;
  if (unit != '\0' && unit != 'b') {
    const char* place = std::strchr(units, unit);
    if (place == nullptr) return 0;
    for (const char* step = units; step <= place; ++step) scale *= 1024;
    ++end;
    if (*end == 'i') ++end;
  }
  if (*end == 'B' || *end == 'b') ++end;
  const double bytes = number * scale;
  return *end == '\0' && bytes < 1e18 ? static_cast<std::uint64_t>(bytes) : 0;
}

const configuration& config() {
  // Never destroyed: calls may come from exit handlers of the program.
  static const configuration* const instance = new configuration(read_configuration());
  return *instance;
}

std::uint64_t constant(constant_id id) {
  return config().constants[static_cast<int>(id)];
}

}  // namespace memtrace::simulator

extern "C" __attribute__((visibility("default"))) const char* memtrace_simulated_gpu(void) {
  return memtrace::simulator::config().model.key;
}
