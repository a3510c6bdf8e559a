// SPDX-License-Identifier: Apache-2.0
//
// From "these lines grow" to "this keeps it, write that instead".
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/trace/code/frames.h"
#include "analyzer/trace/reader/dictionary.h"
#include "memtrace/trace_format.h"

// X(name)
#define MEMTRACE_REMEDY_KINDS(X)                                                        \
  X(growing_reserved)   /* reserved grows, allocated does not: sizes that vary */       \
  X(growing_outside)    /* modules, contexts, libraries */                              \
  X(growing_host)       /* workers, pinned memory, the process */                       \
  X(exception_frames)   /* an exception's traceback holds the frames of a call */       \
  X(hook_keeps)         /* a hook holds what it saw */                                  \
  X(create_graph_cycle) /* .grad with a graph: a cycle that gc does not see */          \
  X(graph_of_gradients) /* graphs of create_graph=True, carried from turn to turn */    \
  X(reference_cycle)    /* no name leads there */                                       \
  X(unused_graphs)      /* graphs, and no backward pass in the whole run */             \
  X(growing_graph)      /* autograd keeps it, and nobody says why */                    \
  X(metric_state)       /* a metric's list states without reset() */                    \
  X(recurrent_state)    /* hidden state carried over with its graph */                  \
  X(growing_sum)        /* total += loss: one variable whose graph grows */             \
  X(never_read)         /* a container that nothing reads */                            \
  X(kept_with_graph)    /* results in a container with the graphs that made them */     \
  X(kept_view)          /* a view keeps its whole batch */                              \
  X(unbounded_cache)    /* dict, lru_cache(maxsize=None) */                             \
  X(unbounded_queue)    /* queue.Queue() without a maximum */                           \
  X(unbounded_deque)    /* deque() without maxlen */                                    \
  X(optimizer_again)    /* optimizers or parameters that are added again */             \
  X(growing_model)      /* layers are added, or wrapped again */                        \
  X(copies_of_model)    /* state dicts, models made again and kept */                   \
  X(evaluation_results) /* results of evaluation kept on the GPU */                     \
  X(epoch_outputs)      /* outputs of each step kept until an epoch's end, or longer */ \
  X(numbers_as_tensors) /* a list of losses: 512 bytes for each */                      \
  X(collected_results)  /* a list of embeddings, of batches */                          \
  X(growing_tensor)     /* torch.cat in each step */                                    \
  X(kept_somewhere)     /* what is known otherwise */

namespace memtrace::remedies {

// A remedy is decided from these: everything that is known of one cause of growth, and questions
// to it. Nothing here guesses.

// The run as a whole.
struct run_clues {
  std::string alloc_conf;     // the allocator's settings
  bool has_backward = false;  // there was a backward pass
};

struct clues {
  const verdicts::verdict& about;
  const verdicts::suspect& who;             // a suspect without anything where there is none
  const verdicts::retainer* held_by;        // what keeps it, mostly; null: no heap scan says
  std::vector<code::source_frame> frames;   // of the allocation, innermost first
  std::vector<code::source_frame> forward;  // made in backward: of the forward call
  const run_clues& run;

  // All of these flags of format::held_*.
  [[nodiscard]] bool kept_by(std::uint32_t flags) const {
    return held_by != nullptr && (held_by->flags & flags) == flags;
  }
  [[nodiscard]] bool kept_with_graph() const;
  // No name leads to it, and autograd saved it or something that grows beside it: a graph whose
  // owner the heap scan did not see.
  [[nodiscard]] bool lost_in_graph() const;
  // A container of one of these classes; without any: a container at all.
  [[nodiscard]] bool kept_in(std::initializer_list<std::string_view> classes = {}) const;
  // A frame of the allocation, or of its forward call, in a file of this path or function.
  [[nodiscard]] bool passes_through(std::string_view file_part) const;
  // Made while the model was evaluated, or growth of evaluation.
  [[nodiscard]] bool in_evaluation() const;
  // What grows most are results themselves, not what autograd saved for them, or inputs.
  [[nodiscard]] bool grows_by_results() const;
  // What belongs to "`.cpu()` of each" where another container has the memory, too, and where the
  // program's text shows that the GPU needs it again; empty: nothing.
  [[nodiscard]] std::string also_kept() const;
  [[nodiscard]] std::string read_again() const;
  // The remedy's id says so, too, where it is known.
  void name_by_readings(verdicts::remedy& what) const;
  // Its retainer, to be named in a sentence: `self.outputs`; "what keeps it" where not known.
  [[nodiscard]] std::string variable() const;
};

// The advice for each cause of growth that was found.

// The first kind of cause whose evidence is there; empty where nothing supports an advice.
[[nodiscard]] std::optional<verdicts::remedy> remedy_for(const clues& of);

// Class of what transformers' Trainer gathers the results of an evaluation in.
inline constexpr std::string_view eval_loop_container = "EvalLoopContainer";

// What a retainer calls for that held much when a request failed; empty where nothing is wrong with
// it.
[[nodiscard]] std::optional<verdicts::remedy> remedy_at_failure(const verdicts::retainer& held_by);
// Where its variable is not read any more, as the program's text tells of the functions in these frames:
// those of the request, or with `has_gone_on` of a call that was made before it.
[[nodiscard]] std::optional<verdicts::remedy> unread_at_failure(
    const verdicts::retainer& held_by, const std::vector<code::source_frame>& frames,
    bool has_gone_on, const trace::dictionary& names);

// In all verdicts that say memory grows, suspects that are kept somewhere get their remedy, and so
// do verdicts without suspects.
void prescribe(verdicts::findings& found, const trace::dictionary& names, const run_clues& run);

// The kinds of cause, one line each; the first whose evidence is there is the answer, so the
// special ones come first. The sources beside this have them in families.

#define MEMTRACE_REMEDY(name) [[nodiscard]] std::optional<verdicts::remedy> name(const clues& of);
MEMTRACE_REMEDY_KINDS(MEMTRACE_REMEDY)
#undef MEMTRACE_REMEDY

}  // namespace memtrace::remedies
