// SPDX-License-Identifier: Apache-2.0
//
// What a program that ran out of memory would still have needed after the request that was refused:
// as much as a pass or a call before took from there on, or what the rest of a first training pass takes
// at least.
//
//   pass 4   forward ─── backward ─── update       from the same place on it took 300 MiB more
//   pass 5   forward ─── back✗                     200 MiB are there: 500 MiB are needed
//
// A remedy that leaves less room than that gets past the request, and ends at another. A program that
// fills a window of batches needs as much more with each further step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/judge/blocks/repetition.h"
#include "analyzer/model/allocator/request_log.h"

namespace memtrace::blocks {

// What a program did until a request was refused: the same for all changes of it.
struct refused_run {
  const evidence& of;
  allocator::block_number refused = 0;
  run_passes passes;
  std::vector<model_call> calls;
};
[[nodiscard]] refused_run run_until(const evidence& of, allocator::block_number refused);

// Bytes allocated, of the program that makes the changed requests.
struct what_follows {
  std::uint64_t bytes = 0;  // at least, with what is there
  bool is_known = false;    // it is hardly more
  bool is_larger = false;   // than what came before it was at this place
  // What will be there beyond that, if what is there as a pass begins goes on to rise as it did: for as
  // many passes, or calls, as there were, or as it rose before it fell.
  std::uint64_t rise = 0;
};

// `changed`: the requests up to the refused one; `allocated`: the most of them at once.
[[nodiscard]] what_follows needed_after(const refused_run& run,
                                        const allocator::request_log& changed,
                                        std::uint64_t allocated);

// The same of a run that fails in its first training pass, of which nothing was seen before: at least
// (first_pass.cpp).
[[nodiscard]] std::uint64_t needed_in_first_pass(const refused_run& run,
                                                 const allocator::request_log& changed,
                                                 std::uint64_t allocated);

// These requests and those that the pass or the call before made from the same place on, with the blocks
// of the one that failed in the place of its own. Empty: none before was like it.
[[nodiscard]] std::optional<allocator::request_log> continued_as_before(
    const refused_run& run, const allocator::request_log& changed);

// Whether as much was allocated before as with the request that was refused: it was in pieces, then.
[[nodiscard]] bool has_had_as_much(const refused_run& run);

}  // namespace memtrace::blocks
