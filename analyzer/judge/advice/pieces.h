// SPDX-License-Identifier: Apache-2.0
//
// All pieces of advice, one line each; each is a file of its name in pieces/.
#pragma once

#include <vector>

#include "analyzer/judge/advice/piece.h"
#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/model/allocator/request_edits.h"

// X(name)
#define MEMTRACE_ADVICE_PIECES(X)                                                       \
  X(allocator_options) /* the best settings of the allocator, by search */              \
  X(empty_cache)       /* useless calls of it, and places where it would help */        \
  X(train_batch)       /* with gradient accumulation */                                 \
  X(evaluation_batch)                                                                   \
  X(sequence_length)                                                                    \
  X(separate_backward) /* for each forward pass, where one waits for several */         \
  X(attention_kernel)  /* scaled_dot_product_attention instead of scores */             \
  X(chunked_loss)      /* head and loss of a part of the places at a time */            \
  X(bucketing)         /* sizes that vary, rounded up to a few */                       \
  X(mixed_precision)   /* autocast */                                                   \
  X(pure_bf16)                                                                          \
  X(convert_before_move)          /* weights to 16 bits, before the GPU holds them */   \
  X(checkpointing)                /* of repeated modules */                             \
  X(evaluation_without_gradients) /* inference_mode where no backward follows */        \
  X(evaluation_outputs)           /* that pile up on the GPU */                         \
  X(untrained_gradients)          /* of a model that no optimizer has */                \
  X(discarded_gradients)          /* of one model, in the steps of another */           \
  X(free_earlier)                 /* what is held after its last use */                 \
  X(kept_views)                   /* a clone of the part, where views keep the whole */ \
  X(zero_grad)                    /* set_to_none, and where it is called */             \
  X(optimizer_choice)             /* 8-bit moments, Adafactor, SGD */                   \
  X(optimizer_form)               /* fused or a loop, instead of foreach */             \
  X(lora)                         /* adapters instead of all weights */                 \
  X(gradient_views)               /* of DistributedDataParallel's buckets */            \
  X(weights_copy)                 /* that no forward pass uses */                       \
  X(unused_parameters)            /* of modules that never ran */                       \
  X(idle_models)                  /* that wait while others run */                      \
  X(host_memory)                  /* workers beside the limit, pinned memory */

namespace memtrace::advice {

using allocator::request_edits;

// The proposals for this run; empty where none applies. Whoever proposes need not know whether it
// saves anything: what does not is dropped after the proof.
using proposals = std::vector<proposal>;

#define MEMTRACE_ADVICE(name) [[nodiscard]] proposals name(const blocks::evidence& of);
MEMTRACE_ADVICE_PIECES(MEMTRACE_ADVICE)
#undef MEMTRACE_ADVICE

}  // namespace memtrace::advice
