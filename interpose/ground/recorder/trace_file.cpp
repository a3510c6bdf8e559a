// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/trace_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "interpose/ground/base/own_descriptors.h"
#include "interpose/ground/base/sanitizer.h"
#include "interpose/ground/recorder/detached_call.h"

namespace memtrace {
namespace {

template <typename T>
std::span<const unsigned char> bytes_of(const T& object) noexcept {
  return {reinterpret_cast<const unsigned char*>(&object), sizeof object};
}

format::drop_reason reason_of(int error) noexcept {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return format::drop_reason::disk_full;
    case ENOMEM:
      return format::drop_reason::out_of_memory;
    case ETIMEDOUT:
      return format::drop_reason::slow_disk;
    case EAGAIN:  // no thread could be had
      return format::drop_reason::internal;
    default:
      return format::drop_reason::io_error;
  }
}

}  // namespace

bool trace_file::exceeds_size_limit(std::uint64_t end) noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         end > limit.rlim_cur;
}

trace_file::~trace_file() {
  if (header_ != nullptr) give_up(0);
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

bool trace_file::take_over() noexcept {
  return !is_sanitized && is_this_file(file_) && leave_shared_descriptors(file_);
}

// The same number in the program's table; in the other thread's it stays.
void trace_file::hand_over() noexcept {
  if (is_this_file(file_)) close(file_);
}

void trace_file::close_descriptor() noexcept {
  if (file_ >= 0 && is_this_file(file_)) close(file_);
  file_ = -1;
}

slot trace_file::slot_at(unsigned index) const noexcept {
  return {head_.bytes() + slot_offset(index), shape_};
}

int trace_file::write_at(std::uint64_t offset, std::span<const unsigned char> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : ENOSPC;
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return 0;
}

int trace_file::append(std::span<const unsigned char> bytes) noexcept {
  if (const int error = ensure_descriptor(); error != 0) return error;
  if (exceeds_size_limit(end_ + bytes.size())) return EFBIG;
  const int error = detached_call::make([&]() noexcept {
    const int refused = write_at(end_, bytes);
    if (refused == 0) return 0;
    // Half a block would read as a truncated file.
    return ftruncate(file_, static_cast<off_t>(end_)) == 0 ? refused : EIO;
  });
  if (error == 0) end_ += bytes.size();
  return error;
}

int trace_file::keep_header() noexcept {
  if (head_.home() == head_home::in_trace) return 0;
  std::array<unsigned char, format::shared_head_offset + format::shared_name_bytes> now{};
  std::memcpy(now.data(), header_, offsetof(format::file_header, state));
  std::memcpy(now.data() + format::shared_head_offset, head_.bytes() + format::shared_head_offset,
              format::shared_name_bytes);
  format::file_header changing{};
  changing.state = std::atomic_ref(header_->state).load(std::memory_order_acquire);
  changing.dropped_because =
      std::atomic_ref(header_->dropped_because).load(std::memory_order_relaxed);
  changing.dropped_events = dropped_events();
  changing.dropped_errno = std::atomic_ref(header_->dropped_errno).load(std::memory_order_relaxed);
  constexpr std::size_t from = offsetof(format::file_header, state);
  std::memcpy(now.data() + from, bytes_of(changing).data() + from, sizeof changing - from);
  if (now == kept_header_) return 0;
  const int error = detached_call::make([&]() noexcept { return write_at(0, now); });
  if (error == 0) kept_header_ = now;
  return error;
}

// The records first and then the word that says how many: a reader of the file never takes what is
// not there. An earlier content of the slot has become a block meanwhile, and is not looked at.
int trace_file::keep(unsigned index) noexcept {
  if (head_.home() == head_home::in_trace) return 0;
  if (const int error = ensure_descriptor(); error != 0) return error;
  if (const int error = keep_header(); error != 0) return error;
  const unsigned char* const slot = head_.bytes() + slot_offset(index);
  auto* const live = reinterpret_cast<format::slot_header*>(head_.bytes() + slot_offset(index));
  format::slot_header now{};
  now.sequence = std::atomic_ref(live->sequence).load(std::memory_order_acquire);
  if (now.sequence == 0) return 0;
  now.committed = std::atomic_ref(live->committed).load(std::memory_order_acquire);
  now.base_ticks = live->base_ticks;
  now.base_monotonic_ns = live->base_monotonic_ns;
  now.first_event = live->first_event;
  auto& kept = kept_[index];
  if (kept.sequence != now.sequence) kept = {.sequence = now.sequence};
  if (kept.committed == now.committed) return 0;
  const auto copy = [&](std::uint64_t area, std::uint32_t& from, std::uint32_t to) noexcept {
    const int error = write_at(slot_offset(index) + area + from, {slot + area + from, to - from});
    if (error == 0) from = to;
    return error;
  };
  return detached_call::make([&]() noexcept {
    constexpr std::uint64_t records_at = sizeof(format::slot_header);
    int error = copy(records_at, kept.record_bytes, static_cast<std::uint32_t>(now.committed));
    if (error == 0) {
      error = copy(records_at + shape_.record_capacity, kept.time_bytes,
                   static_cast<std::uint32_t>(now.committed >> 32));
    }
    if (error == 0) error = write_at(slot_offset(index), bytes_of(now));
    if (error == 0) kept.committed = now.committed;
    return error;
  });
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
  if (const int error = keep_header(); error != 0) return error;
  // Saves the slots' space on disk; where it is not possible what is in them just stays.
  (void)detached_call::make([&]() noexcept {
    return fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, format::header_bytes,
                     static_cast<off_t>(slots_end() - format::header_bytes));
  });
  head_.remove_file();
  return 0;
}

void trace_file::drop_events(std::uint64_t count) noexcept {
  std::atomic_ref(header_->dropped_events).fetch_add(count, std::memory_order_relaxed);
}

std::uint64_t trace_file::dropped_events() const noexcept {
  return std::atomic_ref(header_->dropped_events).load(std::memory_order_relaxed);
}

void trace_file::tell_why(int error) noexcept {
  std::atomic_ref(header_->dropped_because)
      .store(static_cast<std::uint32_t>(reason_of(error)), std::memory_order_relaxed);
  std::atomic_ref(header_->dropped_errno)
      .store(static_cast<std::uint32_t>(error), std::memory_order_relaxed);
}

void trace_file::stop(int error) noexcept {
  tell_why(error);
  std::atomic_ref(header_->state)
      .store(static_cast<std::uint32_t>(format::file_state::stopped), std::memory_order_release);
}

// The slots' content still fits, even on a full disk: their space is allocated.
void trace_file::give_up(int error) noexcept {
  if (error != 0) stop(error);
  int lost = 0;
  for (unsigned index = 0; index < format::slot_count; ++index) {
    if (lost == 0) lost = keep(index);
  }
  if (lost == 0) lost = keep_header();
  if (lost == 0) head_.remove_file();
}

void trace_file::abandon() noexcept {
  head_.forget();
  header_ = nullptr;
  close_descriptor();
}

}  // namespace memtrace
