// SPDX-License-Identifier: Apache-2.0
//
// One piece of advice: what to change, what it saves and how that is known, what it costs.
// A piece proposes; prove.h works out what its proposal saves, by replaying what the changed
// program would ask the allocator for. Sizes are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/allocator/request_log.h"
#include "analyzer/model/allocator/what_if.h"
#include "analyzer/trace/reader/ids.h"

namespace memtrace::advice {

enum class proof : std::uint8_t {
  replayed,   // the program's own requests, or exactly known others, through the allocator's model
  measured,   // an event or a sample of this run
  estimated,  // requests that a formula says the changed program would make, through the model
};

// As reports write it.
[[nodiscard]] constexpr const char* name_of(proof how) {
  switch (how) {
    case proof::replayed:
      return "replayed";
    case proof::measured:
      return "measured";
    default:
      return "estimated";
  }
}

// Groups of which only the best are kept (keep_best() in advise.h).
inline constexpr std::string_view options_group = "allocator_options";
inline constexpr std::string_view empty_cache_group = "empty_cache";
inline constexpr std::string_view free_earlier_group = "free_earlier";

// The memory that a change is about, as a headline says it: "2.25 GiB of 7.65 GiB are not used again".
struct concern {
  std::uint64_t bytes = 0;
  std::string_view words;     // "are not used again"
  bool with_request = false;  // what was refused is among them: "with it 171 MiB are …"
};

// A change that a program would have to make, and its requests after it.
struct proposal {
  std::string id;     // stable: expandable_segments, checkpointing, …
  std::string title;  // one short sentence: what happens now
  // How much of it saves_bytes is about, for tools: the settings' text, "1/2" of a batch, a
  // module's class; empty where there is nothing to choose.
  std::string amount;
  std::string change;            // exact setting or code
  std::string evidence;          // with figures of this run
  std::optional<concern> about;  // empty: what most memory is
  std::string source;            // of the formula, for estimates; else empty
  std::string cost;              // time, accuracy, risk; "none known" is an answer
  std::string not_when;          // when not to take it
  proof how = proof::estimated;
  // The results would differ: another optimizer, other weights, shorter sequences.
  bool changes_results = false;
  // Pieces of one group exclude one another (two batch sizes, two optimizers); empty: none.
  std::string group;
  // The id of the habit (verdicts::habit) whose replay this is, and whose place it takes.
  std::string tells_of;
  // A setting, or what the program can do without: it costs neither time nor accuracy, and the
  // program computes what it did.
  bool free = false;
  // Its saving does not hang on the addresses that the driver gives.
  bool holds_at_any_address = false;
  // Its rewrite works at the sizes that it finds: it is applied after all that change sizes.
  bool after_sizes = false;
  std::optional<std::uint32_t> device;  // empty: the host
  trace::stack_id stack;                // the line it is about, if it is about one

  // At most one of these is empty. Options take the place of the run's; `rewrite` makes the
  // requests those of the changed program (applied in the order of the pieces when combined, so
  // positions in it are event numbers, not indices: see request_edits.h).
  std::optional<allocator::settings> options;
  std::function<void(allocator::request_log&)> rewrite;

  // Instead of both, where nothing is replayed: what was measured or follows from a formula.
  std::optional<std::uint64_t> saves_bytes;       // of the device
  std::optional<std::uint64_t> saves_host_bytes;  // of host memory
  std::optional<std::uint64_t> saves_ns;          // time inside of driver calls
};

// A proposal with its proof. Savings may be negative where something else gains.
struct piece {
  proposal what;                 // after its proof without `rewrite`, which refers to the evidence
  bool changes_program = false;  // it had one
  bool replayed = false;         // the savings below are of replays
  std::int64_t saves_bytes = 0;  // of peak reserved at this capacity: in the worst policy
  std::int64_t saves_bytes_most = 0;  // in the best one
  std::int64_t saves_allocated = 0;   // of peak allocated
  // Savings of the smallest capacity that fits; empty: not asked for, or none was found.
  std::optional<std::int64_t> saves_capacity;
  std::uint64_t retries_before = 0;
  std::uint64_t retries_after = 0;
  // The recorded run ended when memory ran out; the changed one gets past that request,
  // and leaves room for what the rest of a first training pass needs at least.
  bool mends_out_of_memory = false;
  // It leaves all memory that is there, gets past that request, and nothing says what follows.
  bool gets_past_request = false;
  bool is_settled = false;  // of what mends it: what follows is known
};

// The pieces that can be taken together and still save something beside the ones before them, the
// first of each group: not the sum of its parts.
struct combination {
  std::uint32_t device = 0;
  std::vector<std::string> ids;
  std::int64_t saves_bytes = 0;
  std::uint64_t peak_reserved = 0;  // that is left
  proof how = proof::replayed;      // estimated where one of them is
};

struct advice_found {
  std::vector<piece> pieces;          // the best first: see rank() in advise.h
  std::vector<combination> combined;  // by device; of two pieces or more
  std::vector<std::string> limits;    // what was not looked at, or not as a whole, and why
};

// The name of a piece of advice where a sentence has room for a few words.

// By the id of a proposal or of a remedy: "micro-batches of a quarter of the size". Reads as one of several in a list.
[[nodiscard]] std::string brief_words(std::string_view id);

// Whether that is more than the id itself with spaces.
[[nodiscard]] bool has_brief_words(std::string_view id);

// Replays take longer than reading: who waits wants to know how far they are.

// How far the proposals of one device are proved.
struct replay_progress {
  std::size_t done = 0;
  std::size_t of = 0;
};
// Called by several threads, but by one at a time.
using on_replayed_t = std::function<void(const replay_progress&)>;

}  // namespace memtrace::advice
