// SPDX-License-Identifier: Apache-2.0
//
// A hand-built trace, read and replayed.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "analyzer/model/replay/replay.h"
#include "analyzer/trace/reader/reader.h"
#include "tests/unit/support/trace_builder.h"

namespace memtrace::test {

class replayed {
 public:
  explicit replayed(const byte_vector& bytes) : bytes_(bytes), source_(as_bytes(bytes_)) {
    auto opened = trace::reader::open(source_);
    reader_.emplace(std::move(*opened));
    replay_ = std::make_unique<replay::replayer>(reader_->names());
    facts = reader_->read(*replay_);
    replay_->finish();
  }
  explicit replayed(const trace_builder& trace) : replayed(trace.bytes()) {}

  [[nodiscard]] const replay::replayer& operator*() const { return *replay_; }
  [[nodiscard]] const replay::replayer* operator->() const { return replay_.get(); }
  [[nodiscard]] const replay::device_replay& allocator(std::uint32_t device = 0) const {
    return replay_->device(device)->allocator;
  }
  [[nodiscard]] const trace::reader& reader() const { return *reader_; }

  trace::completeness facts;

 private:
  [[nodiscard]] static std::span<const std::byte> as_bytes(const byte_vector& bytes) {
    return std::as_bytes(std::span(bytes));
  }

  byte_vector bytes_;
  trace::memory_source source_;
  std::optional<trace::reader> reader_;
  std::unique_ptr<replay::replayer> replay_;
};

}  // namespace memtrace::test
