// SPDX-License-Identifier: Apache-2.0
//
// How a trace's file comes to be, on a disk that may not answer.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "interpose/ground/base/futex.h"
#include "interpose/ground/base/own_folder.h"
#include "interpose/ground/recorder/quiet_thread.h"
#include "interpose/ground/recorder/trace_file.h"

namespace memtrace {
namespace {

constexpr int most_names_tried = 1000;

std::string file_name(const trace_file_options& options, int number) {
  std::string name;
  for (const char c : options.program) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.' || c == '+';
    name += plain ? c : '_';
  }
  name += "." + std::to_string(getpid());
  if (number > 0) name += "." + std::to_string(number);
  return name + ".mtrace";
}

// Never an existing file, never through a symbolic link: the directory may be everyone's.
int create_exclusively(const trace_file_options& options, int folder, std::string& name) {
  for (int number = 0; number < most_names_tried; ++number) {
    name = file_name(options, number);
    const int file = openat(folder, name.c_str(),
                            O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

struct descriptor {
  int number;
  ~descriptor() {
    if (number >= 0) close(number);
  }
};

}  // namespace

// Shared with a thread, whose end nobody has to await. Counted here: libstdc++ counts in functions that
// ThreadSanitizer does not see.
struct file_creation::work {
  enum step : std::uint32_t { running, done, given_up };

  work(const trace_file_options& wanted, const tick_clock& by) : options(wanted), clock(by) {}

  const trace_file_options options;
  const tick_clock clock;
  int error = 0;
  std::unique_ptr<trace_file> made;
  std::atomic<std::uint32_t> now{running};
  std::atomic<std::uint32_t> owners{2};  // the thread and the file_creation

  void run() noexcept {
    try {
      made = trace_file::create_now(options, clock, error);
    } catch (const std::bad_alloc&) {
      error = ENOMEM;
    }
    if (now.exchange(done, std::memory_order_acq_rel) == given_up) discard();
    futex_wake_all(now);
  }
  void discard() noexcept {
    if (made != nullptr) made->discard();
    made.reset();
  }
  void let_go() noexcept {
    if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

std::unique_ptr<file_creation> file_creation::begin(const trace_file_options& options,
                                                    const tick_clock& clock) noexcept {
  try {
    auto one = std::make_unique<work>(options, clock);
    std::unique_ptr<file_creation> made(new file_creation(one.get()));
    const auto run = [](void* argument) -> void* {
      auto* const mine = static_cast<work*>(argument);
      mine->run();
      mine->let_go();
      return nullptr;
    };
    work* const shared = one.release();
    pthread_t thread{};
    if (start_quiet_thread(thread, run, shared)) {
      pthread_detach(thread);
    } else {
      run(shared);
    }
    return made;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

file_creation::~file_creation() {
  if (work_->now.exchange(work::given_up, std::memory_order_acq_rel) == work::done) {
    work_->discard();
  }
  work_->let_go();
}

const tick_clock& file_creation::clock() const noexcept {
  return work_->clock;
}

bool file_creation::is_done(std::uint32_t patience_ms) const noexcept {
  const std::uint64_t until = monotonic_ns() + patience_ms * std::uint64_t{1'000'000};
  while (work_->now.load(std::memory_order_acquire) == work::running) {
    if (monotonic_ns() >= until) return false;
    futex_wait(work_->now, work::running, std::min(patience_ms, 100u));
  }
  return true;
}

std::unique_ptr<trace_file> file_creation::take(int& error) noexcept {
  error = work_->error;
  return std::move(work_->made);
}

std::unique_ptr<trace_file> trace_file::create_now(const trace_file_options& options,
                                                   const tick_clock& clock, int& error) {
  if (!options.directory.empty()) mkdir(options.directory.c_str(), 0777);
  // Held, so that nobody can put another directory into its place meanwhile.
  const descriptor folder{open_folder(options.directory.c_str())};
  std::string name;
  const int file = folder.number < 0 ? -1 : create_exclusively(options, folder.number, name);
  if (file < 0) {
    error = errno;
    return nullptr;
  }
  std::string path = options.directory.empty() ? name : options.directory + "/" + name;
  std::unique_ptr<trace_file> made(new trace_file(file, std::move(path), options.shape));
  error = made->allocate();
  if (error == 0) {
    made->make_header(clock);
    error = made->keep_header();
  }
  if (error != 0) {
    made->head_.remove_file();
    unlinkat(folder.number, name.c_str(), 0);
    return nullptr;
  }
  return made;
}

void trace_file::discard() noexcept {
  head_.remove_file();
  struct stat named {};
  if (lstat(path_.c_str(), &named) == 0 && named.st_dev == device_ && named.st_ino == inode_) {
    unlink(path_.c_str());
  }
}

int trace_file::allocate() noexcept {
  struct stat created {};
  if (fstat(file_, &created) != 0) return errno;
  device_ = created.st_dev;
  inode_ = created.st_ino;
  if (exceeds_size_limit(slots_end())) return EFBIG;
  // Not posix_fallocate(): where the file system cannot, that writes each of the pages.
  if (fallocate(file_, 0, 0, static_cast<off_t>(slots_end())) != 0) {
    if (errno != EOPNOTSUPP && errno != ENOSYS) return errno;
    if (ftruncate(file_, static_cast<off_t>(slots_end())) != 0) return errno;
  }
  if (const int error = head_.get(file_, slots_end()); error != 0) return error;
  header_ = reinterpret_cast<format::file_header*>(head_.bytes());
  end_ = slots_end();
  return 0;
}

void trace_file::make_header(const tick_clock& clock) noexcept {
  format::file_header header{};
  std::memcpy(header.magic, format::file_magic, sizeof header.magic);
  header.version = format::version;
  header.header_bytes = format::header_bytes;
  header.slot_bytes = shape_.bytes();
  header.slot_count = format::slot_count;
  header.slot_record_capacity = shape_.record_capacity;
  header.slot_time_capacity = shape_.time_capacity;
  header.process_id = static_cast<std::uint64_t>(getpid());
  header.parent_process_id = static_cast<std::uint64_t>(getppid());
  header.start_realtime_ns = realtime_ns();
  header.start_monotonic_ns = monotonic_ns();
  header.start_ticks = clock.ticks();
  header.ns_per_tick = clock.ns_per_tick();
  header.tick_shift = clock.shift();
  header.header_checksum = format::fnv1a32(reinterpret_cast<const unsigned char*>(&header),
                                           offsetof(format::file_header, header_checksum));
  header.state = static_cast<std::uint32_t>(format::file_state::recording);
  std::memcpy(header_, &header, sizeof header);
  if (head_.name().size() >= format::shared_name_bytes) return;
  std::memcpy(head_.bytes() + format::shared_head_offset, head_.name().data(), head_.name().size());
}

}  // namespace memtrace
