// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/capacity.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "simulator/core/config.h"
#include "simulator/log/log.h"

namespace memtrace::simulator::capacity {
namespace {

constexpr int maximum_processes = 1024;
constexpr std::uint32_t ready_magic = 0x53494d31;

struct process_slot {
  std::int32_t pid;     // 0: free
  std::uint64_t start;  // of the process, in clock ticks since boot: pids are used again
  std::uint64_t bytes[maximum_devices];
};

struct shared_table {
  std::atomic<std::uint32_t> ready;
  pthread_mutex_t mutex;
  process_slot slots[maximum_processes];
};

// 0 if there is no such process.
std::uint64_t start_of(std::int32_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[1024];
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  // The name in parentheses may hold anything; starttime is the 20th field after it.
  const char* place = std::strrchr(text, ')');
  for (int field = 0; place != nullptr && field < 20; ++field) place = std::strchr(place + 1, ' ');
  return place == nullptr ? 0 : std::strtoull(place, nullptr, 10);
}

bool alive(const process_slot& slot) {
  if (slot.pid == getpid()) return true;
  if (kill(slot.pid, 0) != 0 && errno == ESRCH) return false;
  return start_of(slot.pid) == slot.start;
}

void make_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

shared_table* anonymous_table() {
  void* memory = mmap(nullptr, sizeof(shared_table), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  auto* table = static_cast<shared_table*>(memory);
  make_mutex(table->mutex);
  return table;
}

// The folder is everybody's: another user may have made a file of this name, and change it.
bool is_own_file(int file) {
  struct stat facts {};
  return fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
         (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// One process creates the table, under a file lock; the others wait for that lock.
shared_table* session_table(const std::string& session) {
  const std::string path = "/dev/shm/memtrace-" + session;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return nullptr;
  if (!is_own_file(file)) {
    close(file);
    return nullptr;
  }
  struct flock whole {};
  whole.l_type = F_WRLCK;
  shared_table* table = nullptr;
  if (fcntl(file, F_SETLKW, &whole) == 0 && ftruncate(file, sizeof(shared_table)) == 0) {
    void* memory = mmap(nullptr, sizeof(shared_table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) table = static_cast<shared_table*>(memory);
  }
  if (table != nullptr && table->ready.load() != ready_magic) {
    make_mutex(table->mutex);
    table->ready.store(ready_magic);
  }
  close(file);
  return table;
}

shared_table& table() {
  static shared_table* const instance = [] {
    const std::string& session = config().session;
    const bool plain = session.find('/') == std::string::npos;
    shared_table* shared = session.empty() || !plain ? nullptr : session_table(session);
    if (shared == nullptr && !session.empty()) {
      log::warn("processes do not share the simulated GPU: no session {}", session);
    }
    return shared != nullptr ? shared : anonymous_table();
  }();
  return *instance;
}

class table_lock {
 public:
  table_lock() {
    // A process that died inside left at worst a number half updated in its own slot, which goes.
    if (pthread_mutex_lock(&table().mutex) == EOWNERDEAD) pthread_mutex_consistent(&table().mutex);
  }
  ~table_lock() { pthread_mutex_unlock(&table().mutex); }
  table_lock(const table_lock&) = delete;
  table_lock& operator=(const table_lock&) = delete;
};

process_slot* own_slot = nullptr;

void reclaim_dead() {
  for (process_slot& slot : table().slots) {
    if (slot.pid != 0 && !alive(slot)) slot = process_slot{};
  }
}

process_slot& mine() {
  if (own_slot != nullptr) return *own_slot;
  static process_slot overflow{};  // more processes than slots: alone on the GPU
  own_slot = &overflow;
  reclaim_dead();
  for (process_slot& slot : table().slots) {
    if (slot.pid != 0 && slot.pid != getpid()) continue;
    slot = process_slot{};
    slot.pid = getpid();
    slot.start = start_of(slot.pid);
    own_slot = &slot;
    break;
  }
  return *own_slot;
}

std::uint64_t sum(int device) {
  std::uint64_t bytes = 0;
  for (const process_slot& slot : table().slots) {
    if (slot.pid != 0) bytes += slot.bytes[device];
  }
  return bytes;
}

}  // namespace

bool take(int device, std::uint64_t bytes, std::uint64_t total) {
  const table_lock lock;
  process_slot& slot = mine();
  const auto fits = [&] {
    const std::uint64_t now = sum(device);
    return now <= total && bytes <= total - now;
  };
  if (!fits()) {
    reclaim_dead();
    if (!fits()) return false;
  }
  slot.bytes[device] += bytes;
  return true;
}

void give_back(int device, std::uint64_t bytes) {
  const table_lock lock;
  mine().bytes[device] -= bytes;
}

std::uint64_t used(int device) {
  const table_lock lock;
  reclaim_dead();
  return sum(device);
}

std::uint64_t own(int device) {
  const table_lock lock;
  return mine().bytes[device];
}

void processes(int device, void (*visit)(std::int32_t pid, std::uint64_t bytes, void* context),
               void* context) {
  const table_lock lock;
  reclaim_dead();
  for (const process_slot& slot : table().slots) {
    if (slot.pid != 0 && slot.bytes[device] != 0) visit(slot.pid, slot.bytes[device], context);
  }
}

void after_fork_in_child() {
  own_slot = nullptr;
}

}  // namespace memtrace::simulator::capacity
