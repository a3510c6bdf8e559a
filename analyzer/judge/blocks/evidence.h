// SPDX-License-Identifier: Apache-2.0
//
// The evidence for pieces of advice: the requests of one device, and what attribution knows of each
// block. Sizes are bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/judge/blocks/fact_list.h"
#include "analyzer/judge/host/samples.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/model/allocator/request_log.h"
#include "analyzer/model/allocator/what_if.h"
#include "analyzer/model/attribution/result.h"
#include "analyzer/model/replay/replay.h"
#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::blocks {

// A module that the agent named.
struct module_facts {
  trace::object_id root;
  trace::text_id path;        // in the root; empty text: the root itself
  trace::text_id type;        // its class
  bool checkpointed = false;  // runs under checkpoint() already
};

// An operation keeps a block for its backward pass. Positions are event numbers.
struct keeping {
  std::uint64_t block_event = 0;  // the block's birth
  std::uint64_t before = 0;       // the event right after: mostly what the operation allocates
  bool output = false;            // the operation's result, not its operand
  bool needs_gradient = false;    // the tensor does: a trained leaf, or computed from one
};

// An optimizer begins a step. The position is an event number.
struct optimizer_step {
  std::uint64_t event = 0;
  trace::object_id optimizer;
};

struct evidence {
  const trace::dictionary& names;
  const replay::replayer& replayed;       // facts of the device and the run, pinned memory
  const attribution::result& attributed;  // of all devices
  const host::host_samples& host;
  const verdicts::findings& findings;  // what grows, habits that cost: told already
  const allocator::request_log& log;
  fact_list blocks;                      // by block_number
  std::vector<std::uint32_t> step_ends;  // request indices: the first of the next step
  std::map<trace::object_id, module_facts> modules;
  allocator::outcome now;  // of the requests as they are, under the recorded options
  // Not the whole run is there: which part is, in words ("the first 8,000,000 requests"); else
  // empty.
  std::string part;
  std::vector<keeping> keepings = {};                // by `before`
  std::vector<optimizer_step> optimizer_steps = {};  // by event
};

}  // namespace memtrace::blocks
