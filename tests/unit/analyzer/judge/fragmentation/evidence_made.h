// SPDX-License-Identifier: Apache-2.0
//
// Evidence around requests by hand, with a line of code for each block.
#pragma once

#include <string>

#include "analyzer/judge/blocks/evidence.h"
#include "tests/unit/support/made_layouts.h"

namespace memtrace::test {

class evidence_made {
 public:
  explicit evidence_made(const requests& program)
      : log_(program.log), replayed_(names_), of{names_,    replayed_, attributed_, host_,
                                                 findings_, log_,      {},          {},
                                                 {},        {},        {}} {
    of.blocks.resize(log_.blocks());
  }

  // `block` was made at this line of model.py.
  evidence_made& line(std::uint32_t block, std::uint64_t number) {
    if (!file_) {
      static_cast<void>(names_.define_text("/srv/ada/model.py"));
      static_cast<void>(names_.define_text("forward"));
      file_ = true;
    }
    static_cast<void>(names_.define_frame(1, 2, number));
    static_cast<void>(names_.define_stack(0, ++frames_));
    of.blocks.change(block, [&](auto& facts) { facts.stack = trace::stack_id{frames_}; });
    return *this;
  }
  // As the block before.
  evidence_made& same_line(std::uint32_t block) {
    of.blocks.change(block, [&](auto& facts) { facts.stack = trace::stack_id{frames_}; });
    return *this;
  }

 private:
  allocator::request_log log_;
  trace::dictionary names_;
  replay::replayer replayed_;
  attribution::result attributed_;
  host::host_samples host_;
  verdicts::findings findings_;
  bool file_ = false;
  std::uint32_t frames_ = 0;

 public:
  blocks::evidence of;
};

}  // namespace memtrace::test
