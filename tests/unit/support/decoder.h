// SPDX-License-Identifier: Apache-2.0
//
// A reader of traces for these tests only, written from the text of trace_format.h and sharing no
// code with the recorder nor with the analyzer. Trusts the file's numbers only after checking.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memtrace/trace_format.h"

namespace memtrace::test {

// One record, with what the context says filled in. Fields that its kind lacks stay 0.
struct decoded_record {
  format::kind kind{};
  unsigned flags = 0;
  std::uint64_t ticks = 0;  // of timed records
  std::uint32_t device = 0;
  std::uint32_t thread = 0;
  std::uint64_t stream = 0;
  std::uint64_t pool_first = 0;
  std::uint64_t pool_second = 0;
  std::uint64_t address = 0;
  std::vector<std::uint64_t> values;  // the other v and z fields, in order
  std::vector<std::string> texts;     // the s fields, in order
};

struct decoded_trace {
  format::file_header header{};
  bool has_trailer = false;
  format::trailer trailer{};
  std::vector<std::uint64_t> block_sequences;
  std::vector<std::uint64_t> slot_sequences;  // of the slots whose records were read
  std::vector<decoded_record> records;
  std::uint64_t timed = 0;
  std::string error;  // empty: everything in the file makes sense

  [[nodiscard]] std::vector<decoded_record> of(format::kind kind) const;
};

[[nodiscard]] decoded_trace decode_trace(const std::string& path);

}  // namespace memtrace::test
