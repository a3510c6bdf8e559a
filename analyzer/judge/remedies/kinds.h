// SPDX-License-Identifier: Apache-2.0
//
// The kinds of cause, one line each; the first whose evidence is there is the answer, so the
// special ones come first. kinds/ has them in families: by what grows, or by what keeps it.
#pragma once

#include <optional>

#include "analyzer/judge/remedies/clues.h"

// X(name)
#define MEMTRACE_REMEDY_KINDS(X)                                                        \
  X(growing_reserved)   /* reserved grows, allocated does not: sizes that vary */       \
  X(growing_outside)    /* modules, contexts, libraries */                              \
  X(growing_host)       /* workers, pinned memory, the process */                       \
  X(exception_frames)   /* an exception's traceback holds the frames of a call */       \
  X(hook_keeps)         /* a hook holds what it saw */                                  \
  X(create_graph_cycle) /* .grad with a graph: a cycle that gc does not see */          \
  X(reference_cycle)    /* no name leads there */                                       \
  X(growing_graph)      /* autograd keeps it, and nobody says why */                    \
  X(metric_state)       /* a metric's list states without reset() */                    \
  X(recurrent_state)    /* hidden state carried over with its graph */                  \
  X(growing_sum)        /* total += loss: one variable whose graph grows */             \
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

#define MEMTRACE_REMEDY(name) [[nodiscard]] std::optional<verdicts::remedy> name(const clues& of);
MEMTRACE_REMEDY_KINDS(MEMTRACE_REMEDY)
#undef MEMTRACE_REMEDY

}  // namespace memtrace::remedies
