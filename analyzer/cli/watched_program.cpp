// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/watched_program.h"

#include <fmt/core.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>

namespace memtrace::cli {

namespace {

[[nodiscard]] bool writes_to(std::uint64_t process, const std::string& folder) {
  std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  const auto wanted = "MEMTRACE_OUTPUT=" + folder + '\0';
  return all.find(wanted) != all.npos;
}

}  // namespace

std::optional<child_end> watched_program::look() {
  if (pid_ <= 0 || ended_) return std::nullopt;
  int status = 0;
  const auto found = ::waitpid(pid_, &status, WNOHANG);
  if (found == 0 || (found < 0 && errno == EINTR)) return std::nullopt;
  ended_ = true;
  child_end end;
  end.started = true;
  if (found > 0 && WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
  } else if (found > 0) {
    end.exit_status = WEXITSTATUS(status);
  }
  return end;
}

void watched_program::end(const std::vector<std::uint64_t>& others, const std::string& folder) {
  if (pid_ <= 0) return;
  for (const auto process : others) {
    if (!folder.empty() && writes_to(process, folder)) {
      ::kill(static_cast<pid_t>(process), SIGKILL);
    }
  }
  ::kill(-pid_, SIGKILL);
  if (!ended_) {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
  }
  pid_ = 0;
}

}  // namespace memtrace::cli
