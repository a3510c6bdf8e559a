// SPDX-License-Identifier: Apache-2.0
#include "simulator/untouched/zero_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace::simulator::untouched;

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t size = 64 * page;

// A mapping of its own, full of ones.
struct mapping {
  explicit mapping(int flags, int file = -1)
      : begin(static_cast<char*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, file, 0))) {
    REQUIRE(begin != MAP_FAILED);
  }
  ~mapping() { ::munmap(begin, size); }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  char* begin;
};

struct temporary_file {
  temporary_file() {
    char name[] = "/tmp/memtrace-untouched-XXXXXX";
    file = ::mkstemp(name);
    REQUIRE(file >= 0);
    ::unlink(name);
    const std::vector<char> ones(size, 1);
    REQUIRE(::write(file, ones.data(), size) == static_cast<ssize_t>(size));
  }
  ~temporary_file() { ::close(file); }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  int file;
};

std::size_t pages_there(char* begin) {
  std::vector<unsigned char> there(size / page);
  REQUIRE(::mincore(begin, size, there.data()) == 0);
  return static_cast<std::size_t>(
      std::count_if(there.begin(), there.end(), [](unsigned char one) { return (one & 1) != 0; }));
}

bool is_all(const char* begin, std::size_t bytes, char value) {
  return std::all_of(begin, begin + bytes, [&](char one) { return one == value; });
}

}  // namespace

TEST_CASE("private memory becomes zeros and loses its pages; what lies around it stays") {
  const mapping memory(MAP_PRIVATE | MAP_ANONYMOUS);
  std::memset(memory.begin, 1, size);
  char* const from = memory.begin + page / 2;
  const std::size_t bytes = size - page;
  REQUIRE(make_zero(from, bytes));
  CHECK(pages_there(memory.begin) == 2);  // that hold the edges
  CHECK(is_zero(from, bytes));
  CHECK(is_zero(memory.begin + page, bytes / 2 / page * page));
  CHECK(pages_there(memory.begin) == 2);  // looking brings none
  CHECK_FALSE(is_zero(memory.begin, size));
  CHECK(is_all(from, bytes, 0));
  CHECK(is_all(memory.begin, page / 2, 1));
  CHECK(is_all(memory.begin + size - page / 2, page / 2, 1));
}

TEST_CASE("a byte that is written is seen, a zero that is written is one") {
  for (const std::size_t at : {std::size_t{0}, page - 1, 7 * page, size - 1}) {
    const mapping memory(MAP_PRIVATE | MAP_ANONYMOUS);
    REQUIRE(make_zero(memory.begin, size));
    memory.begin[at] = 0;
    CHECK(is_zero(memory.begin, size));
    memory.begin[at] = 1;
    CHECK_FALSE(is_zero(memory.begin, size));
  }
}

TEST_CASE("memory that nobody made zero is not told to be, though it is") {
  alignas(page) static char memory[size];  // at an address that no other test has
  CHECK_FALSE(is_zero(memory, size));
}

TEST_CASE("shared memory and files are left alone") {
  const temporary_file file;
  const int flags = GENERATE(MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED, MAP_PRIVATE);
  const mapping memory(flags, (flags & MAP_ANONYMOUS) != 0 ? -1 : file.file);
  std::memset(memory.begin, 1, size);
  CHECK_FALSE(make_zero(memory.begin, size));
  CHECK(is_all(memory.begin, size, 1));
}

TEST_CASE("locked memory is left alone") {
  const mapping memory(MAP_PRIVATE | MAP_ANONYMOUS);
  std::memset(memory.begin, 1, size);
  constexpr std::size_t locked = 8 * page;  // any user may
  // Not by mlock(), which the sanitizers replace by nothing.
  REQUIRE(::syscall(SYS_mlock, memory.begin, locked) == 0);
  CHECK_FALSE(make_zero(memory.begin, locked));
  CHECK(is_all(memory.begin, size, 1));
}

TEST_CASE("a file in the place of what was zero is not zero, though none of its pages was read") {
  const temporary_file file;
  const mapping memory(MAP_PRIVATE | MAP_ANONYMOUS);
  REQUIRE(make_zero(memory.begin, size));
  REQUIRE(::mmap(memory.begin, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file.file,
                 0) == memory.begin);
  CHECK_FALSE(is_zero(memory.begin, size));
}

TEST_CASE("what is smaller than a page is left alone") {
  char some[100] = {1};
  CHECK_FALSE(make_zero(some, sizeof some));
  CHECK(some[0] == 1);
}
