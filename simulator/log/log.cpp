// SPDX-License-Identifier: Apache-2.0
//
// The one place that knows spdlog, whose headers cost seconds of compile time.
#include "simulator/log/log.h"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string>

namespace memtrace::simulator::log {
namespace {

// Not through a link that another user made.
int open_file(const std::string& path) {
  constexpr int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int file = open(path.c_str(), flags | O_NOFOLLOW, 0600);
  struct stat link {};
  if (file >= 0 || errno != ELOOP || lstat(path.c_str(), &link) != 0) return file;
  return link.st_uid == geteuid() || link.st_uid == 0 ? open(path.c_str(), flags, 0600) : -1;
}

// A sink of our own, as spdlog's formatters keep the time and would need a lock. A file is opened
// for each line: the program may close any descriptor, and another file may get its number.
class line_sink final : public spdlog::sinks::sink {
 public:
  explicit line_sink(std::string path = {}) : path_(std::move(path)) {}

  void log(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    const auto to = fmt::appender(line);
    if (message.level < spdlog::level::warn) {
      const spdlog::string_view_t level = spdlog::level::to_string_view(message.level);
      fmt::format_to(to, "memtrace: simulator[{}] {}: {}\n", getpid(), level, message.payload);
    } else {
      fmt::format_to(to, "memtrace: {}\n", message.payload);
    }
    put(line);
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  void put(const spdlog::memory_buf_t& line) const {
    const int errno_before = errno;
    const int file = path_.empty() ? STDERR_FILENO : open_file(path_);
    // A log that cannot be written is no reason to disturb the program.
    [[maybe_unused]] const ssize_t written = ::write(file, line.data(), line.size());
    if (!path_.empty() && file >= 0) close(file);
    errno = errno_before;
  }

  std::string path_;  // empty: standard error
};

// Critical, which nothing but the reason of an end has, is what `off` leaves.
spdlog::level::level_enum number(log_level level) {
  return level == log_level::off ? spdlog::level::critical
                                 : static_cast<spdlog::level::level_enum>(level);
}
static_assert(static_cast<int>(log_level::trace) == spdlog::level::trace);
static_assert(static_cast<int>(log_level::error) == spdlog::level::err);

// The program may change its working directory.
std::string absolute(std::string_view path) {
  char here[PATH_MAX];
  if (path.front() == '/' || getcwd(here, sizeof here) == nullptr) return std::string(path);
  return std::string(here) + '/' + std::string(path);
}

spdlog::logger* make_logger() {
  const char* value = secure_getenv("MEMTRACE_LOG");
  const log_setting wanted = read_log_setting(value == nullptr ? "" : value);
  auto terminal = std::make_shared<line_sink>();
  terminal->set_level(number(wanted.terminal));
  auto* const made = new spdlog::logger("memtrace", std::move(terminal));
  if (!wanted.file.empty()) {
    auto file = std::make_shared<line_sink>(absolute(wanted.file));
    file->set_level(number(wanted.in_file));
    made->sinks().push_back(std::move(file));
  }
  const log_level lowest = std::min(wanted.terminal, wanted.in_file);
  made->set_level(number(lowest));
  threshold.store(lowest, std::memory_order_relaxed);
  return made;
}

// Never destroyed: calls may come from exit handlers of the program. Made without a lock, as a
// static variable's would be: a child that is forked while another thread makes it would wait for
// that thread forever. Where two are made at once, the second is deleted.
spdlog::logger& logger() {
  static std::atomic<spdlog::logger*> known{nullptr};
  if (auto* const one = known.load(std::memory_order_acquire)) return *one;
  auto* const made = make_logger();
  spdlog::logger* other = nullptr;
  if (known.compare_exchange_strong(other, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *other;
}

}  // namespace

void write(log_level level, fmt::string_view format, fmt::format_args arguments) {
  spdlog::logger& to = logger();
  if (wants(level)) to.log(number(level), spdlog::string_view_t(fmt::vformat(format, arguments)));
}

void fail(fmt::string_view format, fmt::format_args arguments) {
  logger().critical(spdlog::string_view_t(fmt::vformat(format, arguments)));
  std::_Exit(2);
}

}  // namespace memtrace::simulator::log
