// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/surroundings.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "analyzer/base/text/page.h"

namespace memtrace::cli::surroundings {

namespace {

namespace fs = std::filesystem;

struct launcher {
  const char* name;
  const char* why;
};

constexpr char in_container[] =
    "starts the program in a container, where neither memtrace nor its variables are; install "
    "memtrace in the image, and put memtrace run -- in front of the program there";
constexpr char elsewhere[] =
    "starts the program on another machine without these variables; put memtrace run -- in front "
    "of "
    "the program there";
constexpr char cleans[] =
    "takes LD_PRELOAD away; put memtrace run -- behind it, in front of the program";

constexpr std::array launchers = {
    launcher{"docker", in_container},
    launcher{"podman", in_container},
    launcher{"nerdctl", in_container},
    launcher{"kubectl", in_container},
    launcher{"apptainer", in_container},
    launcher{"singularity", in_container},
    launcher{"enroot", in_container},
    launcher{"ssh", elsewhere},
    launcher{"sbatch", elsewhere},
    launcher{"sudo", cleans},
    launcher{"su", cleans},
    launcher{"doas", cleans},
};

// ld.so ignores LD_PRELOAD for it.
[[nodiscard]] bool is_privileged(const std::string& path) {
  struct stat what {};
  return ::stat(path.c_str(), &what) == 0 && (what.st_mode & (S_ISUID | S_ISGID)) != 0 &&
         (what.st_uid != ::geteuid() || (what.st_mode & S_ISGID) != 0);
}

}  // namespace

bool can_be_started(const std::string& program) {
  const auto path = on_path(program);
  std::error_code failed;
  return !path.empty() && ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, failed);
}

finding judge_program(const std::vector<std::string>& command, const std::string& library) {
  const std::string& name = command.front();
  const std::string base = fs::path(name).filename().string();
  for (const auto& known : launchers) {
    if (base == known.name)
      return {"Program", effect::nothing, fmt::format("{} {}", name, known.why)};
  }
  const auto path = on_path(name);
  if (path.empty())
    return {"Program", effect::nothing, fmt::format("{} is not there; check its name", name)};
  if (is_privileged(path)) {
    return {
        "Program", effect::nothing,
        fmt::format("{} gets its owner's rights when it starts, and the system ignores LD_PRELOAD "
                    "then; start what it starts yourself",
                    path)};
  }
  const auto linked = dynamic_linker_of(name);
  if (linked.empty()) {
    return {"Program", effect::nothing,
            fmt::format("{} is linked statically or no program: nothing can be preloaded into it",
                        path)};
  }
  const auto why = why_not_loadable(name, library);
  if (!why.empty()) {
    return {
        "Program", effect::nothing,
        fmt::format("{} cannot load {}: {}. Build memtrace on the system where the program runs",
                    path, library, why)};
  }
  return {"Program", effect::none, fmt::format("{} takes {}", path, library)};
}

}  // namespace memtrace::cli::surroundings
