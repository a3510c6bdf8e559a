// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/io/unfinished_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace memtrace::cli {

namespace {

constexpr std::size_t most_waiting = 1u << 20;  // bytes

// The one that an interrupt would leave behind, file or folder.
char interrupted_file[4096];

// Only what a signal handler may call: a folder's files are rm's to find.
extern "C" void take_away(int signal) {
  if (interrupted_file[0] != '\0' && ::unlink(interrupted_file) != 0 && errno == EISDIR) {
    const auto child = ::fork();
    if (child == 0) {
      ::execl("/bin/rm", "rm", "-rf", "--", interrupted_file, static_cast<char*>(nullptr));
      ::_exit(1);
    }
    if (child > 0) ::waitpid(child, nullptr, 0);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void take_away_when_interrupted(const std::string& path) {
  if (path.size() >= sizeof interrupted_file) return;
  std::memcpy(interrupted_file, path.c_str(), path.size() + 1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // A signal that the caller ignores (nohup) stays ignored.
    if (std::signal(signal, take_away) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

}  // namespace

unfinished_file::unfinished_file(const std::string& path, bool is_folder)
    : path_(path),
      unfinished_(path + ".part-" + std::to_string(::getpid())),
      is_folder_(is_folder) {
  if (is_folder_) {
    std::error_code failed;
    if (!std::filesystem::create_directory(unfinished_, failed)) {
      is_finished_ = true;  // there is nothing to take away
      fail(failed ? failed.message() : "its unfinished form is there already");
    } else {
      take_away_when_interrupted(unfinished_);
    }
    return;
  }
  file_.emplace(unfinished_, output_file::mode::create);
  if (file_->is_open()) {
    take_away_when_interrupted(unfinished_);
  } else {
    is_finished_ = true;
    fail(file_->error());
  }
}

unfinished_file::~unfinished_file() {
  if (is_finished_) return;
  std::error_code failed;
  std::filesystem::remove_all(unfinished_, failed);
  interrupted_file[0] = '\0';
}

void unfinished_file::fail(std::string why) {
  if (!error_) error_ = std::move(why);
}

void unfinished_file::write(std::string_view bytes) {
  if (error_) return;
  waiting_ += bytes;
  if (waiting_.size() >= most_waiting) flush();
}

void unfinished_file::flush() {
  if (error_ || !file_) return;
  if (!file_->write(waiting_)) fail(std::strerror(errno));
  waiting_.clear();
}

bool unfinished_file::finish() {
  flush();
  if (file_ && !file_->close()) fail(std::strerror(errno));
  if (error_) return false;
  std::error_code failed;
  // /dev/null must stay what it is.
  if (!is_folder_ && std::filesystem::exists(path_, failed) &&
      !std::filesystem::is_regular_file(path_, failed)) {
    fail("what is there is not a regular file");
    return false;
  }
  failed.clear();
  // A folder takes the place of an empty one only.
  if (is_folder_) std::filesystem::remove_all(path_, failed);
  if (!failed) std::filesystem::rename(unfinished_, path_, failed);
  if (failed) {
    fail(failed.message());
    return false;
  }
  is_finished_ = true;
  interrupted_file[0] = '\0';
  return true;
}

}  // namespace memtrace::cli
