// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/nccl_exchange.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

namespace memtrace::simulator::nccl {
namespace {

constexpr int maximum_ranks = 64;
constexpr std::uint64_t collective_depth = 4;  // operations under way at once
constexpr std::uint64_t message_depth = 2;     // messages from one rank to another
// Bytes of a payload that there is always room for, and that are passed on even if unknown.
constexpr std::size_t small = 4 << 10;

std::array<char, 48> name_of(std::uint64_t key) {
  std::array<char, 48> name{};
  std::snprintf(name.data(), name.size(), "/memtrace-nccl-%u-%016llx", geteuid(),
                static_cast<unsigned long long>(key));
  return name;
}

// The folder is everybody's: another user may have made a file of this name, and change it.
bool is_own_file(int file) {
  struct stat facts {};
  return fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
         (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

struct exchange::place {
  std::uint32_t bytes;
  std::uint32_t known;
  std::byte data[payload_limit];
};

// Fresh shared memory is zero, which is where every counter starts. The places follow: those of
// collectives by operation and rank, then those of messages by sender, receiver and number.
struct exchange::layout {
  std::atomic<std::uint32_t> epoch;
  std::atomic<std::uint32_t> joined;
  struct rank_state {
    std::atomic<std::int32_t> process;
    std::atomic<std::uint32_t> left;
    std::atomic<std::uint64_t> posted;    // collectives
    std::atomic<std::uint64_t> released;  // collectives
  } ranks[maximum_ranks];
  struct message_state {
    std::atomic<std::uint64_t> sent;
    std::atomic<std::uint64_t> received;
  } messages[maximum_ranks][maximum_ranks];
};

std::unique_ptr<exchange> exchange::open(std::uint64_t key, int ranks, int rank,
                                         const std::vector<int>& running) {
  std::vector<int> slots(static_cast<std::size_t>(ranks), running.empty() ? 0 : -1);
  int count = 0;
  if (running.empty()) {
    for (int& slot : slots) slot = count++;
  } else {
    for (const int one : running) slots[static_cast<std::size_t>(one)] = count++;
  }
  if (count > maximum_ranks || slots[static_cast<std::size_t>(rank)] < 0) return nullptr;
  const auto many = static_cast<std::size_t>(count);
  const std::size_t places = many * collective_depth + many * many * message_depth;
  const std::size_t bytes = sizeof(layout) + places * sizeof(place);
  const int file = shm_open(name_of(key).data(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* memory = MAP_FAILED;
  if (is_own_file(file) && ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (memory == MAP_FAILED) {
    close(file);
    return nullptr;
  }
  auto* const shared = static_cast<layout*>(memory);
  const int slot = slots[static_cast<std::size_t>(rank)];
  return std::unique_ptr<exchange>(
      new exchange(shared, file, bytes, key, std::move(slots), slot, count));
}

exchange::exchange(layout* shared, int file, std::size_t bytes, std::uint64_t key,
                   std::vector<int> slots, int slot, int count)
    : shared_(shared),
      file_(file),
      bytes_(bytes),
      key_(key),
      slots_(std::move(slots)),
      slot_(slot),
      count_(count) {
  shared_->ranks[slot].process = getpid();
  ++shared_->joined;
  changed();
}

exchange::~exchange() {
  if (!joined()) shm_unlink(name_of(key_).data());
  leave();
  munmap(shared_, bytes_);
  close(file_);
}

bool exchange::joined() {
  if (shared_->joined.load() < static_cast<std::uint32_t>(count_)) return false;
  shm_unlink(name_of(key_).data());
  return true;
}

exchange::place& exchange::collective_place(std::uint64_t number, int slot) const {
  auto* const places = reinterpret_cast<place*>(shared_ + 1);
  const std::uint64_t row = number % collective_depth;
  return places[row * static_cast<std::uint64_t>(count_) + static_cast<std::uint64_t>(slot)];
}

exchange::place& exchange::message_place(int from, int to, std::uint64_t number) const {
  auto* const places = reinterpret_cast<place*>(shared_ + 1);
  const auto count = static_cast<std::uint64_t>(count_);
  const std::uint64_t pair =
      static_cast<std::uint64_t>(from) * count + static_cast<std::uint64_t>(to);
  return places[collective_depth * count + pair * message_depth + number % message_depth];
}

// Memory that is shared is had only when it is written: without room that would be a signal.
void exchange::fill(place& to, std::span<const std::byte> payload, std::size_t known) const {
  to.bytes = static_cast<std::uint32_t>(payload.size());
  to.known = static_cast<std::uint32_t>(known);
  if (payload.empty() || (known == 0 && payload.size() > small)) return;
  if (payload.size() > small) {
    const auto offset = to.data - reinterpret_cast<std::byte*>(shared_);
    if (posix_fallocate(file_, offset, static_cast<off_t>(payload.size())) != 0) {
      to.known = 0;
      return;
    }
  }
  std::memcpy(to.data, payload.data(), payload.size());
}

bool exchange::post(std::uint64_t number, std::span<const std::byte> payload, std::size_t known) {
  for (int slot = 0; slot < count_; ++slot) {
    if (shared_->ranks[slot].released.load() + collective_depth <= number) return false;
  }
  fill(collective_place(number, slot_), payload, known);
  shared_->ranks[slot_].posted.store(number + 1);
  changed();
  return true;
}

bool exchange::complete(std::uint64_t number) const {
  for (int slot = 0; slot < count_; ++slot) {
    if (shared_->ranks[slot].posted.load() <= number) return false;
  }
  return true;
}

std::span<const std::byte> exchange::payload(std::uint64_t number, int rank) const {
  const place& from = collective_place(number, runs(rank) ? slot_of(rank) : slot_);
  return {from.data, from.bytes};
}

std::size_t exchange::known(std::uint64_t number, int rank) const {
  return collective_place(number, runs(rank) ? slot_of(rank) : slot_).known;
}

void exchange::release(std::uint64_t number) {
  shared_->ranks[slot_].released.store(number + 1);
  changed();
}

bool exchange::send(int to, std::span<const std::byte> payload, std::size_t known) {
  if (!runs(to)) {
    std::deque<message>& messages = sent_[to];
    if (messages.size() == message_depth) messages.pop_front();
    messages.push_back({{payload.begin(), payload.end()}, known});
    return true;
  }
  layout::message_state& state = shared_->messages[slot_][slot_of(to)];
  const std::uint64_t number = state.sent.load();
  if (number - state.received.load() >= message_depth) return false;
  fill(message_place(slot_, slot_of(to), number), payload, known);
  state.sent.store(number + 1);
  changed();
  return true;
}

bool exchange::receive(int from, std::span<std::byte> payload, std::size_t& known) {
  if (!runs(from)) {
    std::deque<message>& messages = sent_[from];
    const bool fits = !messages.empty() && messages.front().payload.size() == payload.size();
    known = fits ? messages.front().known : 0;
    if (fits) std::copy_n(messages.front().payload.begin(), payload.size(), payload.begin());
    if (!messages.empty()) messages.pop_front();
    return true;
  }
  layout::message_state& state = shared_->messages[slot_of(from)][slot_];
  const std::uint64_t number = state.received.load();
  if (state.sent.load() == number) return false;
  const place& at = message_place(slot_of(from), slot_, number);
  const std::size_t bytes = std::min<std::size_t>(at.bytes, payload.size());
  if (bytes > 0 && (at.known != 0 || bytes <= small)) {
    std::memcpy(payload.data(), at.data, bytes);
  }
  known = at.bytes == payload.size() ? at.known : 0;
  state.received.store(number + 1);
  changed();
  return true;
}

std::uint32_t exchange::epoch() const {
  return shared_->epoch.load();
}

void exchange::changed() const {
  ++shared_->epoch;
  syscall(SYS_futex, &shared_->epoch, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void exchange::wait(std::uint32_t epoch, std::chrono::milliseconds time) const {
  const timespec limit{time.count() / 1000, time.count() % 1000 * 1'000'000};
  syscall(SYS_futex, &shared_->epoch, FUTEX_WAIT, epoch, &limit, nullptr, 0);
}

void exchange::leave() const {
  shared_->ranks[slot_].left = 1;
  changed();
}

bool exchange::gone(int slot) const {
  const layout::rank_state& state = shared_->ranks[slot];
  const std::int32_t process = state.process.load();
  return state.left.load() != 0 || (process != 0 && kill(process, 0) != 0 && errno == ESRCH);
}

bool exchange::join_hopeless() const {
  for (int slot = 0; slot < count_; ++slot) {
    if (gone(slot)) return true;
  }
  return false;
}

// Looks at what a rank did only after seeing it gone: it does nothing more then.
bool exchange::collective_hopeless(std::uint64_t number) const {
  for (int slot = 0; slot < count_; ++slot) {
    const layout::rank_state& state = shared_->ranks[slot];
    if (!gone(slot)) continue;
    if (state.posted.load() <= number) return true;
    if (state.released.load() + collective_depth <= number) return true;
  }
  return false;
}

bool exchange::send_hopeless(int to) const {
  if (!runs(to) || !gone(slot_of(to))) return false;
  const layout::message_state& state = shared_->messages[slot_][slot_of(to)];
  return state.sent.load() - state.received.load() >= message_depth;
}

bool exchange::receive_hopeless(int from) const {
  if (!runs(from) || !gone(slot_of(from))) return false;
  const layout::message_state& state = shared_->messages[slot_of(from)][slot_];
  return state.sent.load() == state.received.load();
}

}  // namespace memtrace::simulator::nccl
