// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/notice.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>

#include "interpose/ground/base/own_folder.h"
#include "interpose/ground/base/settings.h"

#include "memtrace/log_setting.h"
namespace memtrace::notice {
namespace {

constexpr std::size_t longest_line = 1024;

bool standard_error_known = false;
dev_t standard_error_device;
ino_t standard_error_inode;

bool standard_error_is_the_same() noexcept {
  struct stat now {};
  return standard_error_known && fstat(STDERR_FILENO, &now) == 0 &&
         now.st_dev == standard_error_device && now.st_ino == standard_error_inode;
}

// A pipe that nobody reads must not end the program by a signal that it did not ask for.
void write_without_signal(int file, const char* bytes, std::size_t count) noexcept {
  sigset_t broken_pipe;
  sigset_t before;
  sigset_t pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigemptyset(&pending);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  if (write(file, bytes, count) < 0 && errno == EPIPE && !was_pending) {
    const timespec now{};
    sigtimedwait(&broken_pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void write_line(int file, std::string_view text) noexcept {
  char line[longest_line];
  const int length = std::snprintf(line, sizeof line, "memtrace: %.*s\n",
                                   static_cast<int>(text.size()), text.data());
  if (length <= 0) return;
  const auto bytes = static_cast<std::size_t>(length) < sizeof line
                         ? static_cast<std::size_t>(length)
                         : sizeof line - 1;
  // One write a line, so that processes do not mix theirs. Nothing can be done when it fails.
  write_without_signal(file, line, bytes);
}

// Not through a link that somebody else made, nor waiting for a pipe's reader.
int open_log_file(const char* path) noexcept {
  constexpr int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int file = open(path, flags | O_NOFOLLOW, 0600);
  if (file >= 0 || errno != ELOOP || !may_follow(path)) return file;
  return open(path, flags, 0600);
}

void write_to_file(const char* path, std::string_view text) noexcept {
  const int file = open_log_file(path);
  if (file < 0) return;
  write_line(file, text);
  close(file);
}

bool in_file(const log_setting& wanted, log_level level) noexcept {
  return !wanted.file.empty() && wanted.in_file <= level;
}

void write_where_wanted(const log_setting& wanted, log_level level,
                        std::string_view text) noexcept {
  if (wanted.terminal <= level && standard_error_is_the_same()) write_line(STDERR_FILENO, text);
  // The setting's end, and so a C string.
  if (in_file(wanted, level)) write_to_file(wanted.file.data(), text);
}

}  // namespace

void remember_standard_error() noexcept {
  struct stat now {};
  if (fstat(STDERR_FILENO, &now) != 0) return;
  standard_error_known = true;
  standard_error_device = now.st_dev;
  standard_error_inode = now.st_ino;
}

void say(std::string_view sentence) noexcept {
  write_where_wanted(read_log_setting(settings::log()), log_level::warn, sentence);
}

void log(const char* format, ...) noexcept {
  const log_setting wanted = read_log_setting(settings::log());
  if (wanted.terminal > log_level::debug && !in_file(wanted, log_level::debug)) return;
  char text[longest_line];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  write_where_wanted(wanted, log_level::debug, text);
}

}  // namespace memtrace::notice
