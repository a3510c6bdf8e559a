// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/followed_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

namespace memtrace::trace {

namespace {

constexpr std::uint64_t second = 1'000'000'000;

[[nodiscard]] std::uint64_t clock_ns(clockid_t which) {
  timespec now{};
  ::clock_gettime(which, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * second + static_cast<std::uint64_t>(now.tv_nsec);
}

struct process_facts {
  char state = '?';
  std::uint64_t started_ns = 0;  // since 1970
};

// The 3rd and the 22nd field of /proc/PID/stat; the 2nd, a name, may hold anything.
[[nodiscard]] std::optional<process_facts> facts_of(std::uint64_t process_id) {
  std::ifstream file(fmt::format("/proc/{}/stat", process_id));
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(name_end + 1));
  process_facts found;
  rest >> found.state;
  constexpr int fields_between = 18;
  std::string skipped;
  for (int i = 0; i < fields_between; ++i) rest >> skipped;
  std::uint64_t ticks = 0;
  if (!(rest >> ticks)) return std::nullopt;
  const auto per_second = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  const auto booted = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
  found.started_ns = booted + ticks * (second / per_second);
  return found;
}

}  // namespace

result<std::unique_ptr<followed_file>> followed_file::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return error{errno == ENOENT ? error_code::not_found : error_code::io_error, 0,
                 fmt::format("cannot be opened: {}", std::strerror(errno))};
  }
  std::unique_ptr<followed_file> made(new followed_file(path, descriptor));
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return error{error_code::io_error, 0, "is not a regular file; name a trace, NAME.mtrace"};
  }
  made->head_ = look_at_shared_head(descriptor);
  return made;
}

followed_file::~followed_file() {
  ::close(descriptor_);
  if (head_.descriptor >= 0) ::close(head_.descriptor);
}

void followed_file::look_again() {
  if (head_.descriptor < 0) head_ = look_at_shared_head(descriptor_);
}

std::size_t followed_file::read(std::uint64_t offset, std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto at = offset + done;
    const bool in_head = at < head_.bytes;
    const auto wanted =
        in_head ? std::min<std::uint64_t>(out.size() - done, head_.bytes - at) : out.size() - done;
    const auto count = ::pread(in_head ? head_.descriptor : descriptor_, out.data() + done, wanted,
                               static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) error_ = errno;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::uint64_t followed_file::size() const {
  struct stat facts {};
  return ::fstat(descriptor_, &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

bool followed_file::is_there() const {
  struct stat named {};
  return ::stat(path_.c_str(), &named) == 0;
}

bool followed_file::is_replaced() const {
  struct stat named {};
  struct stat mine {};
  if (::stat(path_.c_str(), &named) != 0 || ::fstat(descriptor_, &mine) != 0) return true;
  return named.st_dev != mine.st_dev || named.st_ino != mine.st_ino;
}

writer_state followed_file::writer(std::uint64_t process_id,
                                   std::uint64_t start_realtime_ns) const {
  if (head_.descriptor >= 0) return has_writer(head_) ? writer_state::lives : writer_state::gone;
  const auto process = facts_of(process_id);
  if (!process || process->state == 'Z' || process->state == 'X') return writer_state::gone;
  // Another one that has got the same number since.
  if (process->started_ns > start_realtime_ns + 2 * second) return writer_state::gone;
  return writer_state::lives;
}

}  // namespace memtrace::trace
