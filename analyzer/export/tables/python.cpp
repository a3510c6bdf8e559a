// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables/python.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

extern "C" const char memtrace_write_tables[];  // write_tables.py: embedded_bytes.S

namespace memtrace::tables {

namespace {

struct outcome {
  int status = 0;      // of the program; -1: it did not start or did not exit
  std::string errors;  // what it printed there
};

[[nodiscard]] std::string read_all(int from) {
  std::string content;
  char part[4096];
  for (;;) {
    const auto got = ::read(from, part, sizeof part);
    if (got > 0) content.append(part, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return content;
  }
}

// `arguments`: without the interpreter. Its standard output is nobody's.
[[nodiscard]] outcome run_python(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), interpreter());
  auto variables = unrecorded_environment();
  int errors[2];
  if (::pipe2(errors, O_CLOEXEC) != 0) return {-1, std::strerror(errno)};
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, errors[1], STDERR_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments.front().c_str(), &files, nullptr,
                                    pointers(arguments).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::close(errors[1]);
  outcome made;
  if (failed == 0) made.errors = read_all(errors[0]);
  ::close(errors[0]);
  if (failed != 0) return {-1, std::strerror(failed)};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  made.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (WIFSIGNALED(status)) made.errors = fmt::format("signal {} ended it", WTERMSIG(status));
  return made;
}

[[nodiscard]] std::string last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

}  // namespace

std::string interpreter() {
  const char* const chosen = std::getenv("MEMTRACE_PYTHON");
  return chosen == nullptr || *chosen == '\0' ? "python3" : chosen;
}

std::vector<std::string> unrecorded_environment() {
  std::vector<std::string> made = {"MEMTRACE_DISABLE=1"};
  for (char** one = environ; *one != nullptr; ++one) {
    if (!std::string_view(*one).starts_with("LD_PRELOAD=")) made.emplace_back(*one);
  }
  return made;
}

std::vector<char*> pointers(std::vector<std::string>& of) {
  std::vector<char*> made;
  for (auto& one : of) made.push_back(one.data());
  made.push_back(nullptr);
  return made;
}

std::optional<std::string> missing_pyarrow(const std::string& format) {
  const auto found = run_python({"-c", "import pyarrow"});
  if (found.status == 0) return std::nullopt;
  return fmt::format(
      "--format {} needs Python with pyarrow, and {} has none ({}): pip install pyarrow, or "
      "take --format sqlite, which needs nothing",
      format, interpreter(), last_line(found.errors));
}

std::optional<std::string> write_tables(const std::string& spool, const std::string& folder,
                                        const std::string& format, const std::string& version) {
  const auto done = run_python({"-c", memtrace_write_tables, spool, folder, format, version});
  if (done.status == 0) return std::nullopt;
  return fmt::format("{} could not write it: {}", interpreter(), last_line(done.errors));
}

}  // namespace memtrace::tables
