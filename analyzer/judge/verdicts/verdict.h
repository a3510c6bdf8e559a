// SPDX-License-Identifier: Apache-2.0
//
// The analyzer's conclusions about one run: does memory accumulate or merely stream, where, by how
// much a step, what keeps it alive, and what to write instead. Sizes are bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/statistics/judge.h"
#include "analyzer/judge/program/prove.h"
#include "analyzer/judge/verdicts/expectations.h"
#include "analyzer/judge/verdicts/held_path.h"
#include "analyzer/model/attribution/terms.h"
#include "analyzer/trace/reader/ids.h"
#include "memtrace/trace_format.h"

namespace memtrace::verdicts {

// The answer to whether memory grows without end, the same from every face.
enum class answer : std::uint8_t {
  accumulates,  // it grows, and nothing proves an end; in a short run, nothing speaks for one
  bounded,      // it grows up to a bound, which the verdict has with its line and value
  not_settled,  // it grows, or may; the run is too short to tell, and the program does not
  steady,       // it does not grow from step to step
};
// "accumulates", "bounded", "not_settled", "steady"
[[nodiscard]] std::string_view name_of(answer which);

// As the report's JSON names it, before the colon.
enum class subject_kind : std::uint8_t {
  device,    // allocated bytes of device N
  reserved,  // reserved bytes of device N: grows while allocated is flat: fragmentation
  outside,   // driver memory of device N outside of PyTorch's pool
  category,
  phase,  // evaluation, or one that the program named: memory that stays within each episode of it
  site,
  host,  // resident memory of the process, its workers, pinned memory
};

struct subject {
  subject_kind kind = subject_kind::device;
  std::uint32_t device = 0;
  std::string name;  // of the category, phase, or of what is meant on the host; the site's number
};

// A series as it was judged, thinned to at most 64 values.
struct series_shown {
  std::uint64_t first_step = 0;
  std::uint64_t stride = 1;  // steps from one value to the next
  std::vector<std::uint64_t> bytes;
};

// A path that keeps memory alive, as the heap scans saw it.
struct retainer {
  std::string path;       // self.validation_outputs[…]
  std::string container;  // list
  std::uint64_t length = 0;
  bool gets_longer = false;               // was longer in later heap scans, in the last one too
  std::optional<growing_level> grows_in;  // of several containers in one another
  bool is_full = false;                   // the bounded containers are, inside others
  bool grows_itself = false;    // its tensors do, in containers that are as long as they were
  bool grows_in_place = false;  // more of what was there before holds memory now
  std::string also;   // a variable with another container that has most of the memory, too
  std::string owner;  // local of fit
  std::string file;   // of the owner
  std::uint32_t line = 0;
  std::string holder;                // Trainer
  std::vector<std::string> classes;  // as in held_path
  std::uint32_t flags = 0;           // format::held_*
  std::uint64_t bytes = 0;           // in the last heap scan in which it held the suspect's memory
  std::uint64_t blocks = 0;
  double bytes_per_step = 0;               // between heap scans; 0: seen once
  std::uint32_t heap_scans = 0;            // that saw it
  std::uint64_t seen_at_step = 0;          // the last of them
  bool at_exit_only = false;               // no other saw it
  std::uint64_t recorded_in_backward = 0;  // of the bytes: made by a backward that made a graph
  std::string numbers;                     // beside it, at that time: capacity=40,budget=320
  std::optional<program::bound> bound;     // what keeps it from getting ever longer
  std::optional<program::doubt> doubt;     // where there is no bound
  bool made_of_itself = false;             // a step gives it what it makes of what was there
  bool reallocated = false;                // each step gives it something new, not more of the same
  bool is_no_cache = false;                // nothing is asked of it while it gets more
  program::readings read;                  // what the program does with it later
};

// Why growth comes to an end by itself, or may do so.
struct bounded_growth {
  std::string summary;                         // grows into `x`, which is bounded
  std::optional<std::uint64_t> steps_to_full;  // at the rate at which it fills
  std::string overturned_by;
  bool settled = true;                                 // false: the run is too short to tell
  std::optional<program::bound> bound = std::nullopt;  // of what is settled
  std::optional<program::doubt> doubt = std::nullopt;  // of what is not
};

// Steps until memory would run out on another GPU, if what is on this one outside of PyTorch's pool
// is there, too; 0: this run does not fit. Not the time: another GPU's steps last otherwise.
struct steps_elsewhere {
  std::string gpu;  // a name that --gpu takes
  std::uint64_t capacity_bytes = 0;
  std::uint64_t steps = 0;
};

// A limit other than the device's memory.
struct memory_limit {
  std::string name;  // the machine's memory
  std::uint64_t bytes = 0;
};

// The change to make, in the user's terms.
struct remedy {
  std::string id;       // detach_loss, clear_list, bound_cache, …
  std::string cause;    // one sentence: what happens
  std::string change;   // one sentence: what to write instead
  std::string caution;  // what does not help, or what it costs; may be empty
  double saves_bytes_per_step = 0;
  bool helps_what_fills = false;  // and is emptied by itself: that needs no bound and no reset()
  bool moves_to_host = false;     // what is kept, and nothing else
};

// Growth that somebody expects: of several who do, the one that explains most of it.
struct expected_growth {
  said_by by{};
  std::string why;
  std::string file;  // where that was said
  std::uint32_t line = 0;
  double bytes_per_step = 0;  // of all that is expected
  bool is_all = false;        // what is left is negligible
};

struct suspect {
  std::uint32_t device = 0;
  std::uint32_t site = 0;   // its number in this process, the same on all devices
  trace::stack_id stack;    // of the site's latest allocation that stays
  trace::stack_id forward;  // made in backward: the forward call whose gradient it was made for
  attribution::category what = attribution::category::unknown;
  attribution::phase born_in = attribution::phase::other;
  growth::judgement found;
  double bytes_per_step = 0;
  double share = 0;         // of the subject's growth, 0 … 1
  std::uint64_t bytes = 0;  // that have stayed
  std::uint64_t blocks = 0;
  bool modules_run = false;              // weights, all of modules that still take part in a step
  bool modules_wrap_each_other = false;  // weights, each time around those that were there
  bool modules_take_turns = false;    // weights, some of modules that have run again after a pause
  bool in_running_model = false;      // weights, some of a model that still takes part in a step
  std::string part_of_model;          // of weights: adapters[…]
  bool fits_weights = false;          // it grew by no more than the device's weights are
  bool at_even_distances = false;     // these steps are: each third, or so
  bool is_overdue = false;            // none since, for twice the longest wait so far
  bool by_more_blocks = false;        // of about the same size, rather than by larger ones
  bool captured = false;              // for CUDA graphs, while they were captured
  std::string given_back_by;          // the function of which another call gave as much back before
  bool for_new_sizes = false;         // made only where a step worked on larger data than before
  std::uint64_t generations = 0;      // distinct steps in which its live blocks were made
  std::vector<retainer> retained_by;  // most growth first
  std::optional<remedy> fix;
  std::optional<bounded_growth> fills;  // instead of leaking
  std::optional<expected_growth> expected;
};

struct verdict {
  verdicts::subject about;
  growth::judgement found;  // shape, rate, confidence, evidence, what would overturn it
  series_shown series;
  std::string unit = "step";   // what the series counts: step, call, event window, sample
  double bytes_per_step = 0;   // by steps, even where the unit is another
  bool has_been_full = false;  // memory ran out there: the two below would come too late
  std::optional<std::uint64_t> steps_to_oom;
  std::optional<std::uint64_t> ns_to_oom;
  std::optional<memory_limit> limit;            // of the host: what is reached after steps_to_oom
  std::vector<steps_elsewhere> elsewhere;       // of device and phase; as gpu_models.h lists them
  std::vector<suspect> suspects;                // largest share first
  std::optional<remedy> fix;                    // of one without suspects: reserved, outside, host
  std::optional<program::bound> bound;          // of `bounded`
  std::optional<std::uint64_t> steps_to_bound;  // at the rate at which it grows; none: not known
  std::optional<program::doubt> doubt;          // of `not_settled`, where it is the program's
  // Likewise: the steps are inferred from CUDA's calls alone, of which the loading of what stays may
  // consist as well.
  bool may_be_loading = false;
  // Likewise, of a device: nearly each step needs so many bytes more than the one before, up to the
  // last, and no call site is known to keep them. 0: it is not so.
  double needs_more = 0;
  std::optional<expected_growth> expected;  // the answer stays what it is
  std::string summary;                      // a sentence
  // Where something is expected: what else grows, which may be that.
  std::vector<suspect> unnamed;
  std::uint64_t capacity_bytes = 0;  // of the device, for what is negligible; 0: not known
};

// All of its growth, or all but what is negligible: no alarm, whatever the answer is.
[[nodiscard]] inline bool is_expected(const verdict& about) {
  return about.expected && about.expected->is_all;
}

// Why it is not settled, where that is not for want of steps; `summary` says it.
[[nodiscard]] inline bool is_in_doubt(const verdict& about) {
  return about.doubt || about.may_be_loading || about.needs_more != 0;
}

// "expected: plotted at the end (said at train.py:12)"; of a part of the growth with its bytes.
// Empty: nothing of it is.
[[nodiscard]] std::string expected_words(const verdict& about);

// A habit that costs and does not help, such as empty_cache in every batch.
struct habit {
  std::string id;
  std::string title;
  std::string evidence;  // with its figures
  std::string change;
  std::uint64_t times = 0;
  std::uint64_t nanoseconds = 0;  // measured, inside of what it does
  // Its calls, where a program without them can be replayed: the replay says more.
  std::optional<format::operation> calls = std::nullopt;
};

// What was said, and how many of the verdicts it explains, or a part of their growth.
struct used_expectation {
  expectation said;
  std::uint64_t verdicts = 0;
};

struct findings {
  std::vector<verdict> verdicts;  // the devices first; each device always has one
  std::vector<habit> habits;
  std::vector<used_expectation> expectations;
};

[[nodiscard]] answer answer_of(const verdict& about);
// The suspect to be named first: one whose growth may have an end, where the others' has one. Null: there
// is none.
[[nodiscard]] const suspect* first_open(const verdict& about);
// It accumulates, and fast enough to matter: what faces warn of, and checks fail for.
[[nodiscard]] bool is_leak(const verdict& about);
// The verdict on the allocated memory of a device. Null: there is none.
[[nodiscard]] const verdict* of_device(const findings& found, std::uint32_t device);

// device:0, category:activations, site:17 …, as the report's JSON names subjects.
[[nodiscard]] std::string name_of(const subject& about);

// A sentence that says what was found, without the place.
[[nodiscard]] std::string summary_of(const verdict& given);
// Gives a summary to each that has none yet.
void summarize(findings& found);

}  // namespace memtrace::verdicts
