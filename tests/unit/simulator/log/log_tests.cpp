// SPDX-License-Identifier: Apache-2.0
#include "simulator/log/log.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::simulator;

namespace {

// The standard error of `work` in a process of its own, which reads the setting anew.
std::string said(const char* setting, void (*work)()) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv("MEMTRACE_LOG", setting, 1);
    signal(SIGABRT, SIG_DFL);  // Catch2 catches it
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    work();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char some[4096];
  for (ssize_t got = 0; (got = read(ends[0], some, sizeof some)) > 0;) {
    text.append(some, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void one_of_each() {
  log::trace("a trace");
  log::debug("a {} thing", "debugged");
  log::info("an {}", "information");
  log::warn("{} warnings", 2);
}

class new_file {
 public:
  new_file() : name_("/tmp/memtrace-log-XXXXXX") { close(mkstemp(name_.data())); }
  ~new_file() { unlink(name_.c_str()); }
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string text() const {
    std::ifstream in(name_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string name_;
};

}  // namespace

TEST_CASE("MEMTRACE_LOG is a level, a file, or both") {
  const auto read = [](std::string_view value) {
    const log_setting setting = read_log_setting(value);
    return std::tuple(setting.terminal, setting.in_file, setting.file);
  };
  using enum log_level;
  const std::string_view none;
  CHECK(read("") == std::tuple(warn, off, none));
  CHECK(read("quiet") == std::tuple(off, off, none));
  CHECK(read("off") == std::tuple(off, off, none));
  CHECK(read("stderr") == std::tuple(debug, off, none));
  CHECK(read("error") == std::tuple(error, off, none));
  CHECK(read("trace") == std::tuple(trace, off, none));
  CHECK(read("run.log") == std::tuple(warn, debug, std::string_view("run.log")));
  CHECK(read("./debug") == std::tuple(warn, debug, std::string_view("./debug")));
  CHECK(read("/a:b") == std::tuple(warn, debug, std::string_view("/a:b")));
  CHECK(read("trace:/a:b") == std::tuple(warn, trace, std::string_view("/a:b")));
  CHECK(read("error:log") == std::tuple(error, error, std::string_view("log")));
}

TEST_CASE("a user sees sentences only, whoever debugs more, and in quiet nobody anything") {
  CHECK(said("", one_of_each) == "memtrace: 2 warnings\n");
  CHECK(said("error", one_of_each).empty());
  CHECK(said("quiet", one_of_each).empty());
  const auto lines = lines_of(said("stderr", one_of_each));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].ends_with("] debug: a debugged thing"));
  CHECK(lines[1].ends_with("] info: an information"));
  CHECK(lines[2] == "memtrace: 2 warnings");
  CHECK(lines_of(said("trace", one_of_each)).size() == 4);
}

TEST_CASE("a file gets the diagnostics, standard error the sentences still") {
  const new_file file;
  CHECK(said(("trace:" + file.name()).c_str(), one_of_each) == "memtrace: 2 warnings\n");
  CHECK(lines_of(file.text()).size() == 4);
  CHECK(said(file.name().c_str(), one_of_each) == "memtrace: 2 warnings\n");
  CHECK(lines_of(file.text()).size() == 7);
}

TEST_CASE("a process that memtrace ends is told why, in quiet too") {
  CHECK(said("quiet", [] { log::refuse("no GPU {}", "xyz"); }) == "memtrace: no GPU xyz\n");
}

TEST_CASE("nothing is lost before an abort") {
  CHECK(said("", [] {
          log::warn("last words");
          std::abort();
        }) == "memtrace: last words\n");
}

// ThreadSanitizer's own allocator leaves its locks as they are in a fork: a child whose parent had
// another thread in it waits there forever. glibc's, which is tested, does not.
#ifndef __SANITIZE_THREAD__
TEST_CASE("nothing is lost in the child of a process that was writing") {
  const std::string text = said("stderr", [] {
    std::thread writer([] {
      for (int i = 0; i < 2000; ++i) log::debug("{}", std::string(100, 'p'));
    });
    for (int i = 0; i < 20; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);  // instead of forever
        log::debug("{}", std::string(100, 'c'));
        _exit(0);
      }
      waitpid(child, nullptr, 0);
    }
    writer.join();
  });
  const auto lines = lines_of(text);
  CHECK(std::ranges::count_if(lines, [](const auto& line) {
          return line.ends_with(' ' + std::string(100, 'p'));
        }) == 2000);
  CHECK(std::ranges::count_if(lines, [](const auto& line) {
          return line.ends_with(' ' + std::string(100, 'c'));
        }) == 20);
}

TEST_CASE("the child of a process whose first line is being written writes its own") {
  // The first use is a race of a few microseconds: often enough, it is in the middle of it.
  for (int i = 0; i < 100; ++i) {
    const std::string text = said("stderr", [] {
      std::thread writer([] { log::debug("{}", "of the parent"); });
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);  // instead of forever
        log::debug("{}", "of the child");
        _exit(0);
      }
      waitpid(child, nullptr, 0);
      writer.join();
    });
    const auto lines = lines_of(text);
    const auto told = [&](std::string_view whose) {
      return std::ranges::count_if(lines, [&](const auto& line) { return line.ends_with(whose); });
    };
    INFO(text);  // a sanitizer may add its own, of the thread that the child does not have
    REQUIRE(told("] debug: of the parent") == 1);
    REQUIRE(told("] debug: of the child") == 1);
  }
}
#endif

namespace {
struct counted {};
int formatted = 0;
}  // namespace

template <>
struct fmt::formatter<counted> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  template <typename Context>
  auto format(const counted&, Context& context) const {
    ++formatted;
    return context.out();
  }
};

TEST_CASE("what nobody wants is not formatted") {
  CHECK(said("debug", [] {
          log::trace("{}", counted{});
          log::debug("{}{}", counted{}, counted{});
          log::warn("{}", formatted);
        }).ends_with("memtrace: 2\n"));
}
