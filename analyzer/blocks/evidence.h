// SPDX-License-Identifier: Apache-2.0
//
// What pieces of advice look at: the requests of one device, and what attribution knows of each
// block. Sizes are bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/allocator/request_log.h"
#include "analyzer/allocator/what_if.h"
#include "analyzer/attribution/result.h"
#include "analyzer/attribution/terms.h"
#include "analyzer/host/samples.h"
#include "analyzer/replay/replay.h"
#include "analyzer/trace/dictionary.h"
#include "analyzer/verdicts/verdict.h"

namespace memtrace::blocks {

inline constexpr std::uint32_t never = 0xffffffffu;

// Of one block, by its block_number. 64 bytes.
struct block_facts {
  attribution::category what = attribution::category::unknown;
  attribution::phase born_in = attribution::phase::other;
  bool evaluation = false;        // made while or after a model ran without gradients, and
                                  // before training went on
  bool recomputed = false;        // by checkpointing, in backward
  bool kept_by_autograd = false;  // saved for a backward pass
  bool attention_scores = false;  // quadratic in the sequence length
  bool cast_copy = false;         // autocast's copy of a parameter
  bool unused_copy = false;       // a parameter of a model that no forward pass uses
  std::uint8_t element_bits = 0;  // of a tensor kept by autograd or a parameter; 0: not known
  std::uint8_t dimensions = 0;    // of the tensor that autograd kept first; 0: not known
  std::uint32_t rows = 0;         // its last dimension but one
  std::uint32_t columns = 0;      // its last dimension
  std::uint32_t call = 0;         // of a root module, in which it was born; 0: none
  // Steps are counted by the step_ends that are past: 0 is up to the first end. Without any: never.
  std::uint32_t birth_step = never;
  std::uint32_t death_step = never;    // never: alive at the end
  std::uint32_t free_request = never;  // index in request_log::requests; never: alive at the end
  trace::object_id module;  // innermost at birth; in backward, whose gradient is computed
  trace::object_id root;
  trace::stack_id stack;    // of its allocation
  trace::stack_id forward;  // made in backward: the forward call whose gradient is computed
  trace::text_id node;      // made in backward: the autograd node, such as MmBackward0
  trace::text_id name;      // of a parameter, for its weights, gradient and states
  trace::text_id detail;    // dtype, or key of an optimizer state
};

// Of a module that the agent named.
struct module_facts {
  trace::object_id root;
  trace::text_id path;        // in the root; empty text: the root itself
  trace::text_id type;        // its class
  bool checkpointed = false;  // runs under checkpoint() already
};

struct evidence {
  const trace::dictionary& names;
  const replay::replayer& replayed;       // facts of the device and the run, pinned memory
  const attribution::result& attributed;  // of all devices
  const host::host_samples& host;
  const verdicts::findings& findings;  // what grows, habits that cost: told already
  const allocator::request_log& log;
  std::vector<block_facts> blocks;       // by block_number
  std::vector<std::uint32_t> step_ends;  // request indices: the first of the next step
  std::map<trace::object_id, module_facts> modules;
  allocator::outcome now;  // of the requests as they are, under the recorded options
  // Not the whole run is there: which part is, in words ("the first 8,000,000 requests"); else
  // empty.
  std::string part;
};

}  // namespace memtrace::blocks
