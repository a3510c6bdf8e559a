// SPDX-License-Identifier: Apache-2.0
//
// Bytes that are written once and read again while the command runs: in memory as long as they are
// few, else in a file without a name in TMPDIR (or /tmp), which is gone with the command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/trace_writer.h"

namespace memtrace::snapshot {

class spill_file final : public trace::byte_source, public trace::output {
 public:
  static constexpr std::size_t most_in_memory = std::size_t{32} << 20;

  spill_file() = default;
  spill_file(const spill_file&) = delete;
  spill_file& operator=(const spill_file&) = delete;
  ~spill_file() override;

  [[nodiscard]] bool write(std::uint64_t offset, std::span<const unsigned char> bytes) override;
  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> out) override;
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] int read_error() const override { return error_; }

 private:
  [[nodiscard]] bool move_to_file();
  [[nodiscard]] bool write_to_file(std::uint64_t offset, std::span<const unsigned char> bytes);

  std::vector<unsigned char> bytes_;
  int descriptor_ = -1;  // none: in memory
  std::uint64_t size_ = 0;
  int error_ = 0;
};

}  // namespace memtrace::snapshot
