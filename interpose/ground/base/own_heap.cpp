// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/base/own_heap.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <memory_resource>
#include <new>

#include "interpose/ground/base/small_lock.h"

namespace memtrace::own_heap {
namespace {

constexpr std::size_t alignment = 16;
constexpr std::size_t first_mapping = std::size_t{256} << 10;
constexpr std::uint32_t wait_ms = 10;

void* map(std::size_t bytes) noexcept {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

class mapped_memory final : public std::pmr::memory_resource {
  // Pages are aligned to whatever the pool asks for.
  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* const memory = map(bytes);
    if (memory == nullptr) throw std::bad_alloc();  // as the interface wants it; allocate() catches
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t) override {
    munmap(memory, bytes);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

// Memory that the pool gives back (an array of its own that became too small) is little, and lost.
struct pools {
  mapped_memory from_system;
  std::pmr::monotonic_buffer_resource in_pieces{first_mapping, &from_system};
  std::pmr::unsynchronized_pool_resource by_size{
      {.max_blocks_per_chunk = 1024, .largest_required_pool_block = largest_pooled}, &in_pieces};
};

// Never destroyed: what is freed while the process ends is freed into it.
alignas(pools) std::byte storage[sizeof(pools)];
pools* made = nullptr;
small_lock lock;
thread_local constinit bool held_for_fork = false;
// The thread is in here: what comes on top of it is a signal handler of the program, which lands in
// a hook and must not wait for a lock that this very thread holds.
thread_local constinit bool is_inside = false;
std::atomic<pid_t> home{0};  // the process whose threads take the lock; 0: load() has not run

// Whoever has the lock in this process gives it back, though a fork of a large process may take
// seconds. In a child that was made without fork()'s handlers that thread does not exist.
[[nodiscard]] bool take_lock() noexcept {
  while (!lock.try_lock_for(wait_ms)) {
    const pid_t known = home.load(std::memory_order_relaxed);
    if (known != 0 && known != getpid()) return false;
  }
  return true;
}

// Marks the thread as being in here, unless it is already. A handler must see the mark whenever the
// thread has the lock.
class [[nodiscard]] visit {
 public:
  visit() noexcept : is_first_(!is_inside) {
    is_inside = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~visit() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (is_first_) is_inside = false;
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  [[nodiscard]] bool is_first() const noexcept { return is_first_; }

 private:
  const bool is_first_;
};

// This thread may use the pools: other handlers of fork() allocate while it has them.
class [[nodiscard]] turn {
 public:
  turn() noexcept : locked_(is_first() && !held_for_fork && take_lock()) {}
  ~turn() {
    if (locked_) lock.unlock();
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  explicit operator bool() const noexcept { return locked_ || (is_first() && held_for_fork); }
  // False in a signal handler on top of another turn of this thread.
  [[nodiscard]] bool is_first() const noexcept { return visit_.is_first(); }

 private:
  const visit visit_;
  const bool locked_;
};

// Before what the caller gets: how much there is of it, this included.
struct alignas(alignment) header {
  std::size_t bytes;
};

// Makes `bytes` larger where the pools are not to be had now: release() knows by its size what was
// mapped by itself.
void* take(std::size_t& bytes) noexcept {
  if (bytes > largest_pooled) return map(bytes);
  const turn mine;
  if (!mine.is_first()) return map(bytes = largest_pooled + alignment);
  if (!mine) return nullptr;
  try {
    if (made == nullptr) made = new (storage) pools;
    return made->by_size.allocate(bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Nothing where a signal handler forks on top of a turn of this thread, which goes on in the child.
void before_fork() noexcept {
  const visit here;
  if (here.is_first()) held_for_fork = take_lock();
}

void after_fork() noexcept {
  const visit here;
  if (!held_for_fork || !here.is_first()) return;
  held_for_fork = false;
  lock.unlock();
}

void in_forked_child() noexcept {
  home.store(getpid(), std::memory_order_relaxed);
  after_fork();
}

}  // namespace

void load() noexcept {
  const bool is_registered = home.exchange(getpid(), std::memory_order_relaxed) != 0;
  if (!is_registered) (void)pthread_atfork(&before_fork, &after_fork, &in_forked_child);
}

void* allocate(std::size_t bytes) noexcept {
  if (bytes > PTRDIFF_MAX - 2 * alignment) return nullptr;
  // A multiple: before GCC 15, the pool aligns a piece of 24 bytes to no more than 8 (PR 118681).
  bytes = (bytes + sizeof(header) + alignment - 1) / alignment * alignment;
  void* const memory = take(bytes);  // first: it may change their number
  return memory == nullptr ? nullptr : new (memory) header{bytes} + 1;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  header* const whole = static_cast<header*>(memory) - 1;
  const std::size_t bytes = whole->bytes;
  if (bytes > largest_pooled) {
    munmap(whole, bytes);
    return;
  }
  const turn mine;
  if (mine) made->by_size.deallocate(whole, bytes, alignment);
}

}  // namespace memtrace::own_heap
