// SPDX-License-Identifier: Apache-2.0
//
// A byte source read once from its start, a buffer at a time. Past the end everything reads as 0
// and ok() is false.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/reader/byte_source.h"

namespace memtrace::snapshot {

class sequential_input {
 public:
  explicit sequential_input(trace::byte_source& source)
      : source_(source), buffer_(std::size_t{256} << 10) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::uint64_t position() const { return start_ + next_; }
  // Bytes behind the position: what a length may at most say.
  [[nodiscard]] std::uint64_t left() const {
    return source_.size() - std::min(source_.size(), position());
  }

  [[nodiscard]] std::uint8_t byte() {
    if (next_ == filled_ && !refill()) return 0;
    return static_cast<std::uint8_t>(buffer_[next_++]);
  }

  // Little-endian, of 1 to 8 bytes.
  [[nodiscard]] std::uint64_t number(unsigned bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }

  void skip(std::uint64_t bytes) {
    if (bytes <= filled_ - next_) {
      next_ += static_cast<std::size_t>(bytes);
      return;
    }
    if (bytes > left()) {
      ok_ = false;
      bytes = left();
    }
    start_ = position() + bytes;
    next_ = filled_ = 0;
  }

  // The first `keep` of so many bytes; valid until the next call.
  [[nodiscard]] std::string_view text(std::uint64_t bytes, std::size_t keep) {
    if (bytes > left()) {
      ok_ = false;
      return {};
    }
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, keep));
    if (wanted <= filled_ - next_) {
      const auto* const from = reinterpret_cast<const char*>(buffer_.data() + next_);
      skip(bytes);
      if (bytes == wanted) return {from, wanted};
      text_.assign(from, wanted);  // skipping may have emptied the buffer
      return text_;
    }
    text_.clear();
    while (text_.size() < wanted && ok_) text_.push_back(static_cast<char>(byte()));
    skip(bytes - wanted);
    return text_;
  }

 private:
  [[nodiscard]] bool refill() {
    start_ += filled_;
    next_ = 0;
    filled_ = source_.read(start_, buffer_);
    ok_ = ok_ && filled_ != 0;
    return filled_ != 0;
  }

  trace::byte_source& source_;
  std::vector<std::byte> buffer_;
  std::string text_;
  std::uint64_t start_ = 0;  // of the buffer, in the source
  std::size_t next_ = 0;     // in the buffer
  std::size_t filled_ = 0;
  bool ok_ = true;
};

}  // namespace memtrace::snapshot
