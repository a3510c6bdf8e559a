// SPDX-License-Identifier: Apache-2.0
#include "child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string_view>

namespace memtrace::simulator {
namespace {

constexpr auto patience = std::chrono::seconds(10);

std::vector<char*> environment_without_preload() {
  std::vector<char*> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::string_view(*each).rfind("LD_PRELOAD=", 0) != 0) variables.push_back(*each);
  }
  variables.push_back(nullptr);
  return variables;
}

pid_t start(const std::vector<std::string>& command, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> variables = environment_without_preload();
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  if (::posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), variables.data()) !=
      0) {
    child = -1;
  }
  posix_spawn_file_actions_destroy(&files);
  return child;
}

// False when the time is up before the other end is closed.
bool read_all(int from, std::string& text) {
  const auto end = std::chrono::steady_clock::now() + patience;
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd ready{from, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) return false;
    const ssize_t got = ::read(from, buffer, sizeof buffer);
    if (got == 0) return true;
    if (got < 0) return false;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string child_output(const std::vector<std::string>& command) {
  int ends[2];
  if (command.empty() || ::pipe2(ends, O_CLOEXEC) != 0) return {};
  const pid_t child = start(command, ends[1]);
  ::close(ends[1]);
  std::string text;
  bool good = child > 0;
  if (good) {
    good = read_all(ends[0], text);
    if (!good) ::kill(child, SIGKILL);
    int status = 0;
    good = ::waitpid(child, &status, 0) == child && status == 0 && good;
  }
  ::close(ends[0]);
  return good ? text : std::string{};
}

}  // namespace memtrace::simulator
