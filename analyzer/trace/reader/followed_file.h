// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a trace that grows, read and never written: of a program that lives they belong to
// it, and what a killed one left in memory stays there for memtrace report to take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/error.h"
#include "analyzer/trace/reader/shared_head.h"

namespace memtrace::trace {

enum class writer_state : std::uint8_t {
  lives,
  gone,
  unknown,  // its process is of another machine or container, and there is no lock to ask
};

class followed_file final : public byte_source {
 public:
  [[nodiscard]] static result<std::unique_ptr<followed_file>> open(const std::string& path);
  followed_file(const followed_file&) = delete;
  followed_file& operator=(const followed_file&) = delete;
  ~followed_file() override;

  [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> out) override;
  [[nodiscard]] std::uint64_t size() const override;  // now
  [[nodiscard]] int read_error() const override { return error_; }

  // Before each reading of what is new: a trace that was opened while it was made may have got its
  // head in memory since.
  void look_again();
  // Its slots are those that the recorder writes into, no copies.
  [[nodiscard]] bool has_shared_head() const { return head_.descriptor >= 0; }
  // Under its name there is another file now, or none.
  [[nodiscard]] bool is_replaced() const;
  [[nodiscard]] bool is_there() const;
  // The state of the process that the trace names as its writer, and when the trace began.
  [[nodiscard]] writer_state writer(std::uint64_t process_id,
                                    std::uint64_t start_realtime_ns) const;

 private:
  followed_file(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
  shared_head head_;
  int error_ = 0;
};

}  // namespace memtrace::trace
