// SPDX-License-Identifier: Apache-2.0
//
// Heap scans by hand: what each found, by name.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/judge/verdicts/retention.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::test {

class heap_scans {
 public:
  void begin(std::uint64_t step, format::census_reason why = format::census_reason::step) {
    step_ = step;
    why_ = why;
    kept.census({}, {format::census_action::begin, why_, 0, 0, 0}, step_);
  }
  void end(std::uint32_t flags = 0) {
    kept.census({}, {format::census_action::end, why_, flags, 0, 1000}, step_);
  }
  // A storage of `bytes`; `detail` as the format says, with | between its fields.
  void held(std::uint32_t site, std::string_view path, std::string detail, std::uint64_t bytes,
            std::uint32_t flags = 0, std::uint32_t device = 0, std::uint64_t site_bytes = 0) {
    for (auto& letter : detail) {
      if (letter == '|') letter = '\x1f';
    }
    attribution::block_life block;
    block.bytes = bytes;
    block.scope = scope;
    kept.held(device, site, &block, record(path, detail, flags), site_bytes);
  }
  void held_without_block(std::string_view path) { kept.held(0, 0, nullptr, record(path, {}, 0)); }

 private:
  [[nodiscard]] trace::storage_event record(std::string_view path, std::string_view detail,
                                            std::uint32_t flags) {
    trace::storage_event made;
    made.role = format::storage_role::held;
    made.name = text(path);
    made.detail = text(detail);
    made.flags = flags;
    return made;
  }
  [[nodiscard]] trace::text_id text(std::string_view value) {
    (void)names.define_text(value);
    return trace::text_id{++texts_};
  }

  std::uint32_t texts_ = 0;
  std::uint64_t step_ = 0;
  format::census_reason why_{};

 public:
  trace::scope scope;  // of the blocks that follow
  trace::dictionary names;
  verdicts::retention kept{names};
};

}  // namespace memtrace::test
