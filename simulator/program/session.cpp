// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace memtrace::simulator {
namespace {

constexpr const char* folder = "/dev/shm";
constexpr std::string_view prefix = "memtrace-";

// Runs that were killed could not end their session; its name begins with their process. Those of
// other users are theirs to end.
void end_abandoned_sessions() {
  std::error_code error;
  for (std::filesystem::directory_iterator one(folder, error), last; !error && one != last;
       one.increment(error)) {
    const std::string file = one->path().filename().string();
    if (file.rfind(prefix, 0) != 0) continue;
    struct stat facts {};
    if (lstat(one->path().c_str(), &facts) != 0 || facts.st_uid != geteuid()) continue;
    const pid_t owner = std::atoi(file.c_str() + prefix.size());
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) unlink(one->path().c_str());
  }
}

}  // namespace

shared_session::shared_session() {
  if (const char* given = std::getenv("MEMTRACE_SIM_SESSION"); given != nullptr && *given != '\0') {
    name_ = given;
    return;
  }
  end_abandoned_sessions();
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  name_ = std::to_string(getpid()) + "-" + std::to_string(now);
  own_ = true;
}

shared_session::~shared_session() {
  if (own_) unlink((std::string(folder) + "/" + std::string(prefix) + name_).c_str());
}

}  // namespace memtrace::simulator
