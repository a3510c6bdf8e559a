// SPDX-License-Identifier: Apache-2.0
//
// A trace as it is at this moment, while the program goes on: the head is copied, and of the file
// no more is read than there is now. So it may be read more than once and is the same each time.
// Nothing is written, and no lock is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/error.h"
#include "analyzer/trace/reader/followed_file.h"

namespace memtrace::trace {

class frozen_source final : public byte_source {
 public:
  // Errors: those of reader::open.
  [[nodiscard]] static result<std::unique_ptr<frozen_source>> take(const std::string& path);

  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> out) override;
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] int read_error() const override { return file_->read_error(); }

 private:
  explicit frozen_source(std::unique_ptr<followed_file> file) : file_(std::move(file)) {}

  std::unique_ptr<followed_file> file_;
  std::vector<std::byte> head_;  // header and slots
  std::uint64_t size_ = 0;
};

}  // namespace memtrace::trace
