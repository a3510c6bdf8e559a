// SPDX-License-Identifier: Apache-2.0
//
// Reads a trace from its first to its last record, whatever prefix of it there is.
//
//   byte_source ─► section_reader ─► decoder ─► record_visitor
//                  (blocks, slots)      └─► dictionary
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "analyzer/base/symbols/debug_symbols.h"
#include "analyzer/trace/reader/byte_source.h"
#include "analyzer/trace/reader/decoder.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/drop_recovery.h"
#include "analyzer/trace/reader/error.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::trace {

// How complete a trace is. A killed program, a full disk or a cut-off copy are told here;
// `damage` is set only where bytes are there that cannot have been written.
struct completeness {
  std::uint64_t events = 0;
  std::uint64_t dropped_events = 0;  // not recorded, as the recorder counted them
  format::drop_reason dropped_because{};
  std::uint32_t dropped_errno = 0;
  std::vector<gap> gaps;    // where events were dropped and recording went on afterwards
  bool clean_exit = false;  // the program ended by itself and the trailer was written
  bool truncated = false;   // the file lacks something that had been written to it
  std::uint64_t missing_blocks = 0;
  std::uint64_t missing_events = 0;  // at least; counted where a number shows the gap
  std::uint64_t end_time_ns = 0;     // since the start: of the trailer, else of the last event
  status damage;
};

struct progress {
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_total = 0;
  std::uint64_t events = 0;
};

// An open trace: the header is read and checked.
class reader {
 public:
  [[nodiscard]] static result<reader> open(byte_source& source);

  [[nodiscard]] const format::file_header& header() const { return header_; }
  [[nodiscard]] const dictionary& names() const { return names_; }
  // For one more pass over the same trace: reads once like this one, into names of its own.
  [[nodiscard]] reader again() const {
    reader made(*source_, header_);
    made.symbols_ = symbols_;
    return made;
  }
  // Before reading: leave the lines of generated code and of machine code as they are (see
  // generated_code.h, native_code.h).
  void read_as_recorded() { lines_ = decoder::generated::as_recorded; }

  // Calls the visitor for every record, once. `on_progress` is called after each block, and so is
  // `enough`: once it is true the rest is not read, and what is told is of that part alone.
  [[nodiscard]] completeness read(record_visitor& visitor,
                                  const std::function<void(const progress&)>& on_progress = {},
                                  const std::function<bool()>& enough = {});

 private:
  reader(byte_source& source, const format::file_header& header)
      : source_(&source), header_(header) {}

  byte_source* source_;
  format::file_header header_;
  dictionary names_;
  // What addresses mean takes long to find out, and is the same each time.
  std::shared_ptr<symbols::debug_symbols> symbols_ = std::make_shared<symbols::debug_symbols>();
  decoder::generated lines_ = decoder::generated::as_the_program;
};

}  // namespace memtrace::trace
