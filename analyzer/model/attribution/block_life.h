// SPDX-License-Identifier: Apache-2.0
//
// All that is known of one block: where it came from, and what was said about it while it lived.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/model/attribution/terms.h"
#include "analyzer/trace/reader/dictionary.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::attribution {

// How often the program has passed through what it does again and again. Between two moments
// with equal counts no such pass began or ended.
struct pass_counts {
  std::uint32_t calls = 0;            // calls of a root module, or forwards without modules, begun
  std::uint32_t backwards_begun = 0;  //
  std::uint32_t backwards_ended = 0;
  std::uint32_t optimizer_steps = 0;  // begun
  std::uint32_t refusals = 0;         // requests that ended in an out-of-memory error
};

// Where in the run something happened.
struct place {
  phase during = phase::setup;
  bool recompute = false;  // a module runs inside backward
  // Outside of modules, without recording gradients, after a model has been evaluated and before
  // anything is trained: softmax, torch.stack, the next batch of an evaluation.
  bool evaluating = false;
  bool captured = false;   // while a CUDA graph was captured, whose replays need it
  std::uint32_t call = 0;  // the root module's call that runs in this thread; 0: none
  pass_counts passes;
};

using role_set = std::uint32_t;
[[nodiscard]] constexpr role_set bit_of(format::storage_role role) {
  const auto number = static_cast<std::uint32_t>(role);
  return number < 32 ? role_set{1} << number : 0;
}
// Instead of leaf_gradient where the leaf is itself something that the model computed: what
// re-entrant checkpointing detaches and runs backward to.
inline constexpr role_set gradient_of_intermediate = role_set{1} << 31;

// Beside the roles: FSDP has gathered a parameter in it.
inline constexpr role_set gathered_parameter = role_set{1} << 30;

// A stage of a pipeline receives activations into it; a gradient of what it received, which it
// sends back.
inline constexpr role_set received_by_stage = role_set{1} << 28;
inline constexpr role_set gradient_to_send = role_set{1} << 27;

// It is held under a name that keys and values have: a module's buffer, or what a heap scan found.
inline constexpr role_set named_as_cache = role_set{1} << 29;

// Autograd's facts from when it kept a tensor in this block; of the first one, if it can be of one
// with three dimensions or more.
struct saved_facts {
  std::uint64_t bytes = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint32_t scalar_type = 0;
  std::uint32_t dimensions = 0;
  std::uint32_t times = 0;            // 0: never kept
  std::uint32_t always = 0;           // flags that every one of them had
  std::uint32_t ever = 0;             // flags that any of them had
  std::uint32_t backwards_ended = 0;  // pass_counts, when it was kept last
};

struct block_life {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t asleep = 0;  // of them, now (replay/residency.h)
  std::uint64_t born_event = 0;
  trace::stack_id stack;
  trace::thread_id thread;
  trace::scope scope{};
  place born;
  role_set roles = 0;
  format::storage_role named_by{};  // role of the name below: the strongest that has one
  std::uint32_t role_flags = 0;     // format::storage_*: of named_by, or of the leaf it names
  trace::text_id name;
  trace::text_id detail;
  trace::object_id object;
  saved_facts saved;
  category annotated_as = category::unknown;  // by the program
  [[nodiscard]] std::uint64_t resident() const { return bytes - asleep; }
  [[nodiscard]] bool has(format::storage_role role) const { return (roles & bit_of(role)) != 0; }
};

// How its life ended, or how things stand at the end of the trace.
struct life_end {
  bool alive = false;         // the trace ended first
  bool in_backward = false;   // freed by a thread that runs backward
  bool call_running = false;  // the root module's call in which it was made still runs
  phase during = phase::other;
  pass_counts passes;
};

// Whether a path of names, as Python would write it ("self.layers[…].k_cache"), names a cache of
// keys and values: programs call them much alike (k_cache, past_key_values, kv_pool).
[[nodiscard]] bool names_keys_and_values(std::string_view path);

// Writes down at a block what a record says about it. `leaf`: for the roles that name a leaf
// tensor, the block it lives in; null where not known.
void annotate(block_life& block, const trace::storage_event& record, const block_life* leaf,
              const trace::dictionary& names);
void annotate(block_life& block, const trace::saved_event& record, const pass_counts& now);

// Whether `bytes` of such a record is the address of a leaf tensor.
[[nodiscard]] bool names_a_leaf(format::storage_role role);

}  // namespace memtrace::attribution
