// SPDX-License-Identifier: Apache-2.0
#include "interpose/recorder/trace_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "interpose/base/own_folder.h"

namespace memtrace {
namespace {

constexpr int most_names_tried = 1000;

// Writing beyond this limit raises SIGXFSZ, which kills a program that does not expect it.
bool exceeds_size_limit(std::uint64_t end) noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         end > limit.rlim_cur;
}

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

std::unique_ptr<trace_file> trace_file::create(const trace_file_options& options,
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
  error = made->map();
  if (error != 0) {
    unlinkat(folder.number, name.c_str(), 0);
    return nullptr;
  }
  made->write_header(clock);
  return made;
}

trace_file::~trace_file() {
  if (memory_ != nullptr) munmap(memory_, slots_end());
  close_descriptor();
}

bool trace_file::is_this_file(int descriptor) const noexcept {
  struct stat now {};
  return fstat(descriptor, &now) == 0 && now.st_dev == device_ && now.st_ino == inode_;
}

int trace_file::ensure_descriptor() noexcept {
  if (is_this_file(file_)) return 0;
  const int again = open(path_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (again < 0) return EBADF;
  if (!is_this_file(again)) {
    close(again);
    return EBADF;
  }
  file_ = again;
  return 0;
}

void trace_file::close_descriptor() noexcept {
  if (file_ >= 0 && is_this_file(file_)) close(file_);
  file_ = -1;
}

int trace_file::map() noexcept {
  struct stat created {};
  if (fstat(file_, &created) != 0) return errno;
  device_ = created.st_dev;
  inode_ = created.st_ino;
  if (exceeds_size_limit(slots_end())) return EFBIG;
  if (const int error = posix_fallocate(file_, 0, static_cast<off_t>(slots_end())); error != 0) {
    return error;
  }
  void* const memory = mmap(nullptr, slots_end(), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) return errno;
  madvise(memory, slots_end(), MADV_DONTFORK);
  memory_ = static_cast<unsigned char*>(memory);
  header_ = reinterpret_cast<format::file_header*>(memory_);
  end_ = slots_end();
  return 0;
}

void trace_file::write_header(const tick_clock& clock) noexcept {
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
}

slot trace_file::slot_at(unsigned index) const noexcept {
  return {memory_ + format::header_bytes + std::size_t{index} * shape_.bytes(), shape_};
}

int trace_file::append(std::span<const unsigned char> bytes) noexcept {
  if (const int error = ensure_descriptor(); error != 0) return error;
  if (exceeds_size_limit(end_ + bytes.size())) return EFBIG;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(end_ + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = count < 0 ? errno : ENOSPC;
      // Half a block would read as a truncated file.
      if (ftruncate(file_, static_cast<off_t>(end_)) != 0) return EIO;
      return error;
    }
    done += static_cast<std::size_t>(count);
  }
  end_ += bytes.size();
  return 0;
}

int trace_file::complete(std::uint64_t blocks, std::uint64_t events) noexcept {
  format::trailer trailer{};
  trailer.magic = format::trailer_magic;
  trailer.blocks = blocks;
  trailer.events = events;
  trailer.dropped_events = dropped_events();
  trailer.end_monotonic_ns = monotonic_ns();
  constexpr std::size_t checked_from = offsetof(format::trailer, blocks);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&trailer);
  trailer.header_checksum = format::fnv1a32(bytes + checked_from, sizeof trailer - checked_from);
  if (const int error = append({bytes, sizeof trailer}); error != 0) return error;
  std::atomic_ref(header_->state)
      .store(static_cast<std::uint32_t>(format::file_state::complete), std::memory_order_release);
  // Saves the slots' space on disk; where it is not possible the zeros just stay.
  (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, format::header_bytes,
                  static_cast<off_t>(slots_end() - format::header_bytes));
  return 0;
}

void trace_file::drop_events(std::uint64_t count) noexcept {
  std::atomic_ref(header_->dropped_events).fetch_add(count, std::memory_order_relaxed);
}

std::uint64_t trace_file::dropped_events() const noexcept {
  return std::atomic_ref(header_->dropped_events).load(std::memory_order_relaxed);
}

void trace_file::stop(format::drop_reason reason, int error) noexcept {
  header_->dropped_because = static_cast<std::uint32_t>(reason);
  header_->dropped_errno = static_cast<std::uint32_t>(error);
  std::atomic_ref(header_->state)
      .store(static_cast<std::uint32_t>(format::file_state::stopped), std::memory_order_release);
}

void trace_file::abandon() noexcept {
  memory_ = nullptr;
  header_ = nullptr;
  close_descriptor();
}

}  // namespace memtrace
