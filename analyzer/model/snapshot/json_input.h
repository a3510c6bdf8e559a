// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a JSON file as a stream, unpacked where it is packed with gzip, a buffer at a time.
// A single text or number may be so long and no longer, so that no file takes more memory than
// that: the stream ends there.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <streambuf>
#include <vector>

#include "analyzer/trace/reader/byte_source.h"

namespace memtrace::snapshot {

class json_input final : public std::streambuf {
 public:
  static constexpr std::uint64_t longest_token = std::uint64_t{16} << 20;

  explicit json_input(trace::byte_source& source);
  ~json_input() override;
  json_input(const json_input&) = delete;
  json_input& operator=(const json_input&) = delete;

  // '{' or '[', behind white space and inside gzip; 0: anything else.
  [[nodiscard]] static char first_of(trace::byte_source& source);

  // The parser has done with all up to here.
  void token_ended() { kept_from_ = position(); }
  [[nodiscard]] std::uint64_t position() const {  // unpacked bytes
    return before_ + static_cast<std::uint64_t>(gptr() - eback());
  }
  [[nodiscard]] std::uint64_t bytes_read() const { return read_; }  // of the file
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool too_long() const { return too_long_; }
  [[nodiscard]] bool damaged() const { return damaged_; }  // as gzip

 protected:
  int_type underflow() override;

 private:
  [[nodiscard]] std::size_t fill();
  [[nodiscard]] std::size_t unpack();

  trace::byte_source& source_;
  std::vector<char> buffer_;
  std::vector<char> packed_;  // empty: it is not packed
  z_stream stream_{};
  std::uint64_t before_ = 0;  // unpacked bytes in front of the buffer
  std::uint64_t read_ = 0;
  std::uint64_t kept_from_ = 0;
  bool ended_ = false;
  bool too_long_ = false;
  bool damaged_ = false;
};

}  // namespace memtrace::snapshot
