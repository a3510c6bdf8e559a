// SPDX-License-Identifier: Apache-2.0
//
// Memory for the head of a trace (file_header and slots), which every event stores into. A store
// must not wait for a disk, and what is stored must survive a SIGKILL of the process: so it is a
// file in memory (tmpfs), where there is room for one, and no file on a disk is ever mapped
// (measured: docs/trace_disk.md).
#pragma once

#include <cstddef>
#include <string>

namespace memtrace {

enum class head_home {
  in_trace,  // the trace itself is on a tmpfs
  shared,    // a file in /dev/shm, until its content is in the trace
  own,       // memory of the process: a SIGKILL loses what is not in the trace yet
};

class head_memory {
 public:
  head_memory() = default;
  ~head_memory();
  head_memory(const head_memory&) = delete;
  head_memory& operator=(const head_memory&) = delete;

  // Zeros, and not the forked children's. `file` is the trace. Returns 0 or an errno value.
  [[nodiscard]] int get(int file, std::size_t bytes) noexcept;

  [[nodiscard]] unsigned char* bytes() const noexcept { return bytes_; }
  [[nodiscard]] head_home home() const noexcept { return home_; }
  // The name of the file in format::shared_folder; empty where there is none.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // All of it is in the trace: the file in /dev/shm goes.
  void remove_file() noexcept;
  // In a forked child: nothing of it is here.
  void forget() noexcept;

 private:
  [[nodiscard]] bool get_shared() noexcept;

  unsigned char* bytes_ = nullptr;
  std::size_t size_ = 0;
  head_home home_ = head_home::own;
  std::string name_;
};

}  // namespace memtrace
