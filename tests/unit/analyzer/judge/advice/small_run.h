// SPDX-License-Identifier: Apache-2.0
//
// Evidence of a run by hand: requests, and a replayer that was told of its end.
#pragma once

#include <cstdint>

#include "analyzer/judge/blocks/evidence.h"
#include "tests/unit/support/made_layouts.h"

namespace memtrace::test {

class small_run {
 public:
  explicit small_run(allocator::request_log requests)
      : log_(std::move(requests)), replayed_(names_), of{names_,    replayed_, attributed_, host_,
                                                         findings_, log_,      {},          {},
                                                         {},        {},        {}} {
    log_.answers.reset();
    of.blocks.resize(log_.blocks());
    for (std::size_t i = 0; i < log_.requests.size(); ++i) {
      const auto& one = log_.requests[i];
      if (one.what() == allocator::action::free) {
        of.blocks.set_free_request(one.block, static_cast<std::uint32_t>(i));
      }
    }
    of.now = allocator::replay(log_, allocator::as_recorded(log_));
    of.part = "all of it";  // no recorded peak stands beside
  }

  // Its last request was refused, and the program ended.
  small_run& ran_out() {
    log_.addresses.back() = 0;
    log_.refused_events.push_back(log_.events.back());
    trace::event head;
    head.number = log_.events.back();
    trace::allocator_event refused;
    refused.kind = format::kind::oom;
    refused.size = log_.requests.back().size;
    replayed_.on_allocator(head, refused);
    return *this;
  }

 private:
  allocator::request_log log_;
  trace::dictionary names_;
  replay::replayer replayed_;
  attribution::result attributed_;
  host::host_samples host_;
  verdicts::findings findings_;

 public:
  blocks::evidence of;
};

// One block after the other, each larger than all before: none fits into what is cached.
[[nodiscard]] inline requests growing() {
  requests program;
  for (std::uint64_t mebibytes = 20; mebibytes <= 60; mebibytes += 10) {
    const auto block = program.allocate(mebibytes << 24, mebibytes << 20);
    program.free(block);
  }
  return program;
}

}  // namespace memtrace::test
