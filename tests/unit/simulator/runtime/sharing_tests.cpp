// SPDX-License-Identifier: Apache-2.0
//
// Several processes on one simulated GPU. A program of its own: the session and the GPU are read at
// the first call, and the parent must not have used CUDA before it forks.
#include <cuda_runtime_api.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/unit/catch.h"

namespace {

constexpr std::size_t mib = 1024 * 1024;
constexpr std::size_t gib = 1024 * mib;

// One session for the program, gone from the machine when it ends.
struct session {
  session() : name("test-" + std::to_string(getpid())) {
    setenv("MEMTRACE_SIM_SESSION", name.c_str(), 1);
    setenv("MEMTRACE_SIM_MEMORY", "8GiB", 1);
    setenv("MEMTRACE_SIM_CONSTANTS", "context=100MiB", 1);
  }
  ~session() { std::remove(("/dev/shm/memtrace-" + name).c_str()); }
  std::string name;
};

// A process that allocates 3 GiB, says so, and holds them until it is told to end or killed.
struct holder {
  holder() {
    REQUIRE(pipe(to_parent) == 0);
    REQUIRE(pipe(to_child) == 0);
    process = fork();
    if (process == 0) {
      void* pointer = nullptr;
      const char done = cudaMalloc(&pointer, 3 * gib) == cudaSuccess ? 'y' : 'n';
      char order = 0;
      if (write(to_parent[1], &done, 1) != 1 || read(to_child[0], &order, 1) != 1) _exit(1);
      _exit(0);
    }
    char answer = 0;
    REQUIRE(read(to_parent[0], &answer, 1) == 1);
    REQUIRE(answer == 'y');
  }
  holder(const holder&) = delete;
  holder& operator=(const holder&) = delete;
  ~holder() {
    for (const int end : {to_parent[0], to_parent[1], to_child[0], to_child[1]}) close(end);
  }
  void end_kindly() {
    REQUIRE(write(to_child[1], "x", 1) == 1);
    REQUIRE(waitpid(process, nullptr, 0) == process);
  }
  void end_by(int signal) {
    REQUIRE(kill(process, signal) == 0);
    REQUIRE(waitpid(process, nullptr, 0) == process);
  }
  int to_parent[2] = {};
  int to_child[2] = {};
  pid_t process = -1;
};

}  // namespace

TEST_CASE("processes of one session share the GPU, and what the dead held comes back") {
  const session shared;
  holder first;
  holder second;
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(total == 8 * gib);
  CHECK(free == 2 * gib - 3 * 100 * mib);  // three contexts
  void* pointer = nullptr;
  CHECK(cudaMalloc(&pointer, 2 * gib) == cudaErrorMemoryAllocation);

  first.end_by(SIGKILL);
  REQUIRE(cudaMalloc(&pointer, 2 * gib) == cudaSuccess);
  second.end_kindly();
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(free == 6 * gib - 100 * mib);
  REQUIRE(cudaFree(pointer) == cudaSuccess);
}
