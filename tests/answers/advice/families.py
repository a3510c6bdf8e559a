# SPDX-License-Identifier: Apache-2.0
"""Programs for three kinds of estimates that were off by more than a fifth in RESULTS.md: checkpointing of
small classes, mixed precision where a softmax is in 32 bits, buckets of lengths. Written and measured before
the estimates were changed; no remedy is called the best, every one that is advised is compared."""

from known_remedy import Truth
from remedies import TYPES, same

BUCKETS = {"bucketing": "bucketing={amount}"}

FAMILIES = [
    Truth("family_decoder", others={**TYPES, **same("mixed_precision")}, amounts=("Attention", "FeedForward", "Block"),
          why="blocks of two small modules, each of which can be checkpointed by itself"),
    Truth("family_denoiser", others={**TYPES, **same("mixed_precision")}, amounts=("Unit", "Residual", "Sequential"),
          why="units of a convolution, a normalisation and an activation at three resolutions"),
    Truth("family_vocabulary", others=same("mixed_precision"),
          why="the softmax of large logits is taken in 32 bits under autocast, too"),
    Truth("family_distillation", others=same("mixed_precision"),
          why="softmax of attention scores, of a teacher's logits, and its logarithm of a student's"),
    Truth("family_lengths", others=BUCKETS, amounts=("1/4", "1/8"),
          why="texts of any length, a batch as long as its longest"),
    Truth("family_recordings", others=BUCKETS, amounts=("1/4", "1/8"),
          why="recordings of any duration, scores of attention stored, some evaluation"),
]
