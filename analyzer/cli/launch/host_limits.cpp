// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/surroundings.h"

#include <fmt/core.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include "analyzer/base/text/units.h"

namespace memtrace::cli::surroundings {

namespace {

namespace fs = std::filesystem;

// The path of this process in the hierarchy of the version 2, or of a version 1 controller.
[[nodiscard]] std::optional<std::string> group_path(const std::string& controller) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto names = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_it = controller.empty() ? names == ",,"
                                          : names.find("," + controller + ",") != std::string::npos;
    if (is_it) return line.substr(second + 1);
  }
  return std::nullopt;
}

// The least number in `file` of the group and those around it. "max", or more than any machine has,
// is no limit.
[[nodiscard]] std::optional<std::uint64_t> least_of_levels(const fs::path& mount,
                                                           const std::string& path,
                                                           const char* name) {
  constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;
  std::optional<std::uint64_t> least;
  for (fs::path level = fs::path("/" + path).lexically_normal();; level = level.parent_path()) {
    std::ifstream file(mount / level.relative_path() / name);
    std::uint64_t number = 0;
    if (file >> number && number < no_limit) least = std::min(least.value_or(number), number);
    if (!level.has_relative_path()) return least;
  }
}

[[nodiscard]] std::optional<std::uint64_t> limit(const char* file_of_2, const char* controller,
                                                 const char* file_of_1) {
  const fs::path mount = "/sys/fs/cgroup";
  if (const auto path = group_path("")) {
    if (const auto found = least_of_levels(mount, *path, file_of_2)) return found;
  }
  const auto path = group_path(controller);
  return path ? least_of_levels(mount / controller, *path, file_of_1) : std::nullopt;
}

[[nodiscard]] bool is_container() {
  std::error_code failed;
  return fs::exists("/.dockerenv", failed) || fs::exists("/run/.containerenv", failed);
}

}  // namespace

finding describe_system() {
  utsname names{};
  ::uname(&names);
  return {"System", effect::none,
          fmt::format("{} {} on {}, glibc {}", names.sysname, names.release, names.machine,
                      ::gnu_get_libc_version())};
}

finding describe_container() {
  std::string said = is_container() ? "yes" : "none seen";
  if (const auto memory = limit("memory.max", "memory", "memory.limit_in_bytes")) {
    said += fmt::format(", at most {} of memory", text::format_bytes(*memory));
  }
  // Three threads of the recorder's.
  constexpr std::uint64_t few_threads = 64;
  const auto threads = limit("pids.max", "pids", "pids.max");
  if (threads) said += fmt::format(", at most {} threads", *threads);
  if (threads && *threads < few_threads) {
    return {"Container", effect::lacks,
            said +
                ": where no thread can be had, events wait for the disk, and host memory is not "
                "sampled"};
  }
  return {"Container", effect::none, said};
}

}  // namespace memtrace::cli::surroundings
