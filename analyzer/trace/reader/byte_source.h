// SPDX-License-Identifier: Apache-2.0
//
// Where a trace's bytes come from: a file, or memory in tests and fuzzing. Files are read and not
// mapped: a mapping of a file that is cut short meanwhile kills the reader with SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "analyzer/trace/reader/error.h"
#include "analyzer/trace/reader/shared_head.h"

namespace memtrace::trace {

class byte_source {
 public:
  virtual ~byte_source() = default;
  // Bytes read into `out`, fewer than asked only at the end. A read error looks like the end and
  // is kept in read_error().
  [[nodiscard]] virtual std::size_t read(std::uint64_t offset, std::span<std::byte> out) = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  [[nodiscard]] virtual int read_error() const { return 0; }  // errno
};

class memory_source final : public byte_source {
 public:
  explicit memory_source(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> out) override;
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

class file_source final : public byte_source {
 public:
  [[nodiscard]] static result<file_source> open(const std::string& path);
  file_source(file_source&& other) noexcept;
  file_source(const file_source&) = delete;
  file_source& operator=(const file_source&) = delete;
  file_source& operator=(file_source&&) = delete;
  ~file_source() override;

  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> out) override;
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] int read_error() const override { return error_; }
  // Its program still runs: another reading may find more.
  [[nodiscard]] bool is_growing() const { return head_.descriptor >= 0; }

 private:
  file_source(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}

  int descriptor_ = -1;
  shared_head head_;        // in place of the file's own first bytes
  std::uint64_t size_ = 0;  // when it was opened
  int error_ = 0;
};

}  // namespace memtrace::trace
