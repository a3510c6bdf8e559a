// SPDX-License-Identifier: Apache-2.0
//
// The results of attribution: who held every byte of a device at a few moments, and what the run
// was made of. Sizes are bytes. Ids are of the trace's dictionary, which must outlive this.
//
// Every view of a composition sums to the same total: groups (by category, by call site, by
// phase of birth …), modules, and groups by parameter.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/attribution/terms.h"
#include "analyzer/model/replay/site_table.h"
#include "analyzer/trace/reader/ids.h"

namespace memtrace::attribution {

struct bytes_and_blocks {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

// Blocks of one moment that are alike in all of this.
struct block_group {
  category what = category::unknown;
  evidence how = evidence::unknown;
  std::string_view rule;  // its name, a constant; empty where unknown
  replay::site_id site;   // of the allocation
  phase born_in = phase::other;
  bool recomputed = false;           // by checkpointing, in backward
  bool attention_scores = false;     // activations quadratic in the sequence length
  bool fp32_under_autocast = false;  // activations that autograd keeps in 32 bits though AMP is on
  std::uint32_t module = 0;          // index in composition::modules
  // The name of a parameter in the model, for weights, gradients, states and cast copies of it;
  // of memory that the program annotated: that name; of workspaces: the library.
  trace::text_id name;
  bool named_by_program = false;  // it is the program's own word
  trace::text_id detail;          // dtype of weights and buffers, key of an optimizer state
  trace::stack_id forward;  // made in backward: the forward call whose gradient it was made for
  trace::text_id node;      // made in backward: the autograd node
  bytes_and_blocks held;
};

// One block; with options.keep_blocks only.
struct block_detail {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t born = 0;   // event number
  std::uint32_t group = 0;  // index in composition::groups
};

// A module's own memory, without its submodules'. Row 0 is what belongs to no module.
struct module_row {
  std::string root;  // the model's class; "Net #2" for the second model of a class; empty: row 0
  std::string path;  // in the model; empty: the model itself
  std::string type;  // class
  std::uint32_t parent = 0;  // row of the module one up; 0 for the models themselves
  by_category<std::uint64_t> bytes;
  std::uint64_t attention_scores = 0;  // of bytes[activations]
  std::uint64_t total = 0;
};

// Everything alive at one moment.
struct composition {
  std::uint64_t event = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t total = 0;  // allocated, in the allocator's terms
  // The part of the total allocated before the recording began, or lost. A group of its own in
  // `groups` (category unknown, no site) and in module row 0.
  std::uint64_t unrecorded = 0;
  phase during = phase::other;
  std::optional<std::uint64_t> step;  // from 0: index in steps_found::steps
  by_category<bytes_and_blocks> categories;
  by_category<by_evidence<std::uint64_t>> evidence_bytes;
  std::vector<block_group> groups;   // most bytes first
  std::vector<block_detail> blocks;  // ascending address; empty unless asked for
  std::vector<module_row> modules;   // parents before children
  [[nodiscard]] bool exists() const { return total != 0; }
};

// A storage of a model's parameters at the allocated peak: of one parameter, of several that
// share it (tied or flattened weights).
struct parameter_row {
  std::string root;           // as module_row::root
  std::string name;           // path in the model; of the first one where several share the storage
  std::uint32_t sharing = 1;  // parameters in this storage
  std::string dtype;          // as the agent wrote it: torch.float32
  bool trainable = false;
  std::uint64_t weights = 0;
  std::uint64_t gradients = 0;
  std::uint64_t optimizer_states = 0;
};

struct phase_result {
  bool seen = false;
  std::uint64_t allocated = 0;  // bytes, summed over its allocations
  std::uint64_t freed = 0;
  composition at_peak;  // the highest total while it ran
};

// A phase that the program named itself; what its inner ones did counts, too.
struct named_phase {
  trace::text_id name;
  bool nvtx = false;        // a range of NVTX
  std::uint64_t begun = 0;  // how often
  std::uint64_t allocated = 0;
  std::uint64_t freed = 0;
  std::uint64_t peak = 0;  // the highest total after one of its allocations
  std::uint64_t peak_event = 0;
};

// Between two boundaries: what was highest, and when.
struct step_peaks {
  std::uint64_t end_event = 0;   // the boundary
  std::uint64_t end_ns = 0;      // its time
  std::uint64_t left = 0;        // allocated there: what the step leaves behind
  std::uint64_t peak_event = 0;  // of the highest total
  std::uint64_t peak = 0;
  by_phase<std::uint64_t> peak_in{};        // 0: the phase did not allocate in this step
  by_phase<std::uint64_t> peak_event_in{};  // of them
};

struct steps_found {
  step_boundary boundary = step_boundary::none;
  std::uint64_t count = 0;        // complete steps
  std::vector<step_peaks> steps;  // the first ones, where there are very many
};

// The steps of a trace that goes on.
struct steps_so_far {
  step_boundary boundary = step_boundary::none;
  std::uint64_t count = 0;
  step_peaks latest;                   // that has ended
  std::span<const step_peaks> before;  // the first ones, where there are very many; without it
};

// A place where autograd kept 32-bit tensors while autocast was on.
struct fp32_site {
  replay::site_id site;
  std::uint32_t module = 0;  // index in device_result::at_peak.modules
  bytes_and_blocks held;     // at the peak
};

struct device_result {
  composition at_peak;  // the highest allocated total of the run: replay's peak_allocated
  composition at;       // at options.at, where asked for and reached
  by_phase<phase_result> phases;
  std::vector<named_phase> named_phases;  // in the order in which they first began
  std::vector<parameter_row> parameters;  // in the order in which they were published
  steps_found steps;
  std::vector<fp32_site> fp32_under_autocast;  // most bytes first
};

// A module whose forward ran again in backward.
struct checkpointed_module {
  std::string root;
  std::string path;
  std::string type;
};

// The results for one trace.
struct result {
  std::map<std::uint32_t, device_result> devices;
  std::vector<checkpointed_module> checkpointed;
  bool autocast = false;              // was on in a model's call
  bool has_backward = false;          // there was a backward pass
  std::string agent;                  // info: "on", why not, or empty: an older recorder
  std::string autograd;               // the same
  std::uint64_t parameters = 0;       // published, tied ones once
  std::uint64_t trainable_bytes = 0;  // of them, of the latest publication of each storage
  std::uint64_t parameter_bytes = 0;
};

class life_observer;

struct options {
  std::optional<std::uint64_t> at;  // event number: the moment right after it
  bool keep_blocks = false;         // fill composition::blocks of at_peak and at
  // Steps found by other means (see periodicity.h), used where the program has none of its own:
  // events, ascending, at which a step ends and the next begins.
  std::vector<std::uint64_t> inferred_boundaries;
  life_observer* lives = nullptr;  // told of every block; may be null
};

}  // namespace memtrace::attribution
