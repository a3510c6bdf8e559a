// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/launch/background_dry_run.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "analyzer/base/text/numbers.h"
#include "analyzer/cli/launch/recording.h"

namespace memtrace::cli {

namespace {

namespace fs = std::filesystem;

// Of sockets that listen, as /proc/PID/net/tcp has them: proc(5). `port` 0: all.
void add_listening(const std::string& table, std::uint64_t port, std::set<std::string>& inodes) {
  constexpr std::string_view listening = "0A";
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);  // its heading
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, queues, timer, again, user, timeout, inode;
    words >> number >> local >> remote >> state >> queues >> timer >> again >> user >> timeout >>
        inode;
    const auto own = std::strtoull(local.c_str() + local.find(':') + 1, nullptr, 16);
    if (state == listening && !inode.empty() && (port == 0 || port == own)) {
      inodes.insert("socket:[" + inode + "]");
    }
  }
}

[[nodiscard]] bool has_one_of(const std::set<std::string>& inodes, const fs::path& process) {
  std::error_code error;
  for (fs::directory_iterator one(process / "fd", error), last; !error && one != last;
       one.increment(error)) {
    std::error_code gone;
    if (inodes.contains(fs::read_symlink(one->path(), gone).string())) return true;
  }
  return false;
}

}  // namespace

std::variant<std::unique_ptr<background_dry_run>, fit::complaint> background_dry_run::start(
    const fit::launch& what, const simulated_gpu& gpu, const std::string& folder) {
  recording_options recording;
  recording.output = folder;
  recording.mode = "standard";
  auto simulated = simulate(what.command, gpu, recording);
  if (!simulated) return fit::complaint{"no GPU can be simulated for it"};
  if (recording.ranks.size() > 1) return fit::complaint{"--rank takes one rank: a number, or last"};
  if (!recording.ranks.empty()) {
    std::ranges::copy(recording.ranks.front(), std::back_inserter(recording.environment));
  }
  if (std::getenv("PYTHONHASHSEED") == nullptr) {
    recording.environment.emplace_back("PYTHONHASHSEED", "0");
  }
  std::ranges::copy(what.environment, std::back_inserter(recording.environment));
  const auto prepared = prepare_recording(what.command, recording);
  if (!prepared || prepared->folder.empty()) {
    return fit::complaint{"the program cannot be recorded"};
  }
  auto output = folder + "/output.txt";
  const auto started = start_in_background(what.command, prepared->environment, true, output);
  if (started.pid == 0) {
    return fit::complaint{fmt::format("{} cannot be started: {}; check the name after --",
                                      what.command.front(), std::strerror(started.start_error))};
  }
  return std::unique_ptr<background_dry_run>(
      new background_dry_run(std::move(*simulated), started, prepared->folder, std::move(output)));
}

background_dry_run::background_dry_run(simulation shared, const background_program& started,
                                       std::string traces, std::string output)
    : shared_(std::move(shared)),
      pid_(started.pid),
      running_(started),
      traces_(std::move(traces)),
      output_(std::move(output)) {}

bool background_dry_run::listens(std::uint64_t port) const {
  const auto first = fs::path("/proc") / std::to_string(pid_);
  std::set<std::string> inodes;
  for (const char* table : {"net/tcp", "net/tcp6"}) add_listening(first / table, port, inodes);
  if (inodes.empty()) return false;
  if (has_one_of(inodes, first)) return true;
  if (port == 0) return false;
  // A script may have started it, or it has forked.
  std::error_code error;
  for (fs::directory_iterator one("/proc", error), last; !error && one != last;
       one.increment(error)) {
    const auto number = text::number_in<int>(one->path().filename().string());
    if (number && ::getpgid(*number) == pid_ && has_one_of(inodes, one->path())) return true;
  }
  return false;
}

bool tells_of_memory(const std::string& output) {
  constexpr std::string_view words[] = {"CUDA out of memory",        "CUDA error: out of memory",
                                        "OutOfMemoryError",          "STATUS_ALLOC_FAILED",
                                        "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY"};
  return std::ranges::any_of(words, [&](auto word) { return output.find(word) != output.npos; });
}

}  // namespace memtrace::cli
