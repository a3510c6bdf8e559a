// SPDX-License-Identifier: Apache-2.0
//
// A folder that goes away with the test, and recorders that write into it.
#pragma once

#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "interpose/ground/recorder/recorder.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/decoder.h"

namespace memtrace::test {

class temporary_folder {
 public:
  temporary_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "memtrace.XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~temporary_folder() {
    std::error_code ignored;
    remove_heads();
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  [[nodiscard]] std::string path() const { return path_; }

 private:
  // The memory files that killed processes left of the traces in here.
  void remove_heads() const {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_, ignored)) {
      if (entry.path().extension() != ".mtrace") continue;
      std::ifstream stream(entry.path(), std::ios::binary);
      char name[format::shared_name_bytes] = {};
      stream.seekg(format::shared_head_offset);
      stream.read(name, sizeof name - 1);
      if (name[0] != '\0') {
        std::filesystem::remove(std::string(format::shared_folder) + "/" + name, ignored);
      }
    }
  }
  std::string path_;
};

// A clock that moves by 1000 ticks of 1 ns a read.
inline std::atomic<std::uint64_t> fake_ticks{0};
inline std::uint64_t read_fake_clock() {
  return fake_ticks.fetch_add(1000) + 1000;
}
inline tick_clock fake_clock() {
  return {&read_fake_clock, 1.0, 0};
}

// The smallest slots that hold any record: many blocks after few events.
inline constexpr slot_shape small_shape{98304 - sizeof(format::slot_header), 32768};
static_assert(small_shape.bytes() % 4096 == 0);
static_assert(small_shape.record_capacity > format::max_record_bytes);

inline std::unique_ptr<recorder> make_recorder(const temporary_folder& folder,
                                               slot_shape shape = small_shape,
                                               bool background = true) {
  int error = 0;
  auto made = recorder::create(
      {.directory = folder.path(), .program = "train", .shape = shape, .background = background},
      fake_clock(), error);
  REQUIRE(made != nullptr);
  return made;
}

inline allocator_event allocation(std::uint64_t address, std::uint64_t size) {
  allocator_event event;
  event.kind = format::kind::alloc;
  event.address = address;
  event.size = size;
  return event;
}

}  // namespace memtrace::test
