// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/entry/run_facts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <string_view>

#include "interpose/ground/base/command_line.h"
#include "interpose/ground/base/loaded_library.h"
#include "interpose/ground/base/notice.h"
#include "interpose/ground/base/settings.h"
#include "interpose/ground/loader/real_function.h"
#include "interpose/sight/python/python_stack.h"
#include "memtrace/environment.h"

namespace memtrace {
namespace {

namespace key = format::info_key;

// The beginning of a small file.
std::string_view read_file(const char* path, std::span<char> buffer) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t count = read(file, buffer.data(), buffer.size());
  close(file);
  return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

void record_command(recorder& to) noexcept {
  char buffer[8192];
  const std::string_view command = read_command_line(buffer);
  if (!command.empty()) to.info(key::command, command);
}

void record_host(recorder& to) noexcept {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) == 0) to.info(key::host, name);
}

// The first of the variables that is set.
void record_variable(recorder& to, const char* info, std::span<const char* const> names) noexcept {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value == nullptr || value[0] == '\0') continue;
    to.info(info, value);
    return;
  }
}

// As PREFIXNAME, where it is set; an empty value is one, too.
void record_as_it_is(recorder& to, const char* prefix, const char* name) noexcept {
  const char* const value = std::getenv(name);
  if (value == nullptr) return;
  char info[80];
  std::snprintf(info, sizeof info, "%s%s", prefix, name);
  to.info(info, value);
}

// By settings_variables, when the library was loaded. The characters stay where they are, as those
// of any variable that the program did not set itself.
const char* at_load[std::size(format::settings_variables)] = {};

bool is_as_at_load(std::size_t variable) noexcept {
  const char* const value = std::getenv(format::settings_variables[variable]);
  if (value == nullptr || at_load[variable] == nullptr) return value == at_load[variable];
  return std::strcmp(value, at_load[variable]) == 0;
}

// Settings of the allocator under a name that is meant to be PyTorch's, and is none of those that it
// reads. Other names are nobody's business. When the library was loaded: later, another thread may
// change the environment while it is walked.
std::string_view unread_settings[4];

void note_unread_settings() noexcept {
  constexpr const char* options[] = {"expandable_segments:", "max_split_size_mb:",
                                     "garbage_collection_threshold:", "roundup_power2_divisions:"};
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto equals = text.find('=');
    if (equals == text.npos || equals > 64) continue;
    const auto value = text.substr(equals + 1);
    if (std::ranges::none_of(options, [&](auto option) { return value.starts_with(option); })) {
      continue;
    }
    const auto name = text.substr(0, equals);
    if (!name.starts_with("PYTORCH_") || name.ends_with("_ALLOC_CONF")) continue;
    auto* const place = std::ranges::find(unread_settings, std::string_view());
    if (place == std::end(unread_settings)) return;
    *place = text;
  }
}

void record_unread_settings(recorder& to) noexcept {
  constexpr std::size_t longest = 1024;  // of a value
  for (const auto text : unread_settings) {
    if (text.empty()) return;
    const auto name = text.substr(0, text.find('='));
    char info[80];
    std::snprintf(info, sizeof info, "%s%.*s", format::environment_prefix,
                  static_cast<int>(name.size()), name.data());
    to.info(info, text.substr(name.size() + 1, longest));
  }
}

void record_mode(recorder& to) {
  to.info(key::mode, recording_mode_names[static_cast<std::size_t>(settings::mode())]);
  std::string on;
  for (const capability_row& row : capability_rows) {
    if (!settings::is_on(row.which)) continue;
    if (!on.empty()) on += ' ';
    on += row.name;
  }
  to.info(key::capabilities, on);
}

void record_environment(recorder& to) noexcept {
  constexpr const char* rank[] = {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
  constexpr const char* local_rank[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "SLURM_LOCALID"};
  constexpr const char* world_size[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"};
  constexpr const char* running_ranks[] = {"MEMTRACE_SIM_RANKS"};
  constexpr const char* run[] = {"MEMTRACE_RUN"};
  record_variable(to, key::run, run);
  record_variable(to, key::rank, rank);
  record_variable(to, key::local_rank, local_rank);
  record_variable(to, key::world_size, world_size);
  record_variable(to, key::running_ranks, running_ranks);
  record_variable(to, key::alloc_conf, format::settings_variables);
  record_own_settings(to);
  for (const char* const name : format::environment_variables) {
    record_as_it_is(to, format::environment_prefix, name);
  }
  record_unread_settings(to);
}

// From torch/version.py beside torch/lib/libc10_cuda.so: __version__ = '2.11.0+cu130'
void record_torch(recorder& to) {
  loaded_library library;
  if (!find_loaded_library("libc10_cuda.so", library)) return;
  const std::size_t file = library.path.rfind('/');
  if (file == std::string::npos) return;
  char buffer[4096];
  std::string_view text =
      read_file((library.path.substr(0, file) + "/../version.py").c_str(), buffer);
  constexpr std::string_view before = "__version__ = '";
  const std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return;
  text.remove_prefix(begin + before.size());
  to.info(key::torch, text.substr(0, text.find('\'')));
}

void record_cuda_version(recorder& to, const char* info, library_family family,
                         const char* function) noexcept {
  const auto get = reinterpret_cast<int (*)(int*)>(find_real_function(family, function));
  int version = 0;
  if (get == nullptr || get(&version) != 0) return;
  char text[16];
  std::snprintf(text, sizeof text, "%d", version);
  to.info(info, text);
}

void record_simulated(recorder& to) noexcept {
  const auto model =
      reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "memtrace_simulated_gpu"));
  if (model != nullptr) to.info(key::simulated, model());
}

}  // namespace

void note_environment() noexcept {
  note_unread_settings();
  for (std::size_t i = 0; i < std::size(at_load); ++i) {
    at_load[i] = std::getenv(format::settings_variables[i]);
  }
}

void record_own_settings(recorder& to) noexcept {
  for (std::size_t i = 0; i < std::size(at_load); ++i) {
    if (is_as_at_load(i)) continue;
    record_as_it_is(to, format::program_prefix, format::settings_variables[i]);
  }
}

void record_run_facts(recorder& to) noexcept {
  to.info(key::memtrace_version, MEMTRACE_VERSION);
  record_command(to);
  record_host(to);
  record_environment(to);
  try {
    record_mode(to);
    record_torch(to);
  } catch (const std::bad_alloc&) {
    // One fact less.
  }
  record_cuda_version(to, key::cuda_runtime, library_family::runtime, "cudaRuntimeGetVersion");
  record_cuda_version(to, key::cuda_driver, library_family::driver, "cuDriverGetVersion");
  if (const char* python = python_stack::interpreter_version(); python[0] != '\0') {
    to.info(key::python, python);
  }
  record_simulated(to);
}

void record_python_news(recorder& to) noexcept {
  const char* const news = python_stack::news(to.generation());
  if (news == nullptr) [[likely]]
    return;
  to.info(key::python_stacks, news);
  if (!python_stack::news_is_warning()) return;
  char text[512];
  std::snprintf(text, sizeof text, "no Python call stacks: %s", news);
  to.message(true, text);
  notice::say(text);
}

}  // namespace memtrace
