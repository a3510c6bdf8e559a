# SPDX-License-Identifier: Apache-2.0
"""Programs whose advice nobody has seen while pieces of advice were written; run once."""

from known_remedy import EXPANDABLE, Truth
from remedies import EVALUATION, PARTS, ROUNDING

HELD_OUT = [
    Truth("held_speech", best=("expandable_segments",), change=EXPANDABLE, also=ROUNDING,
          why="recordings of any duration in batches of any size"),
    Truth("held_graphs", best=("expandable_segments",), change=EXPANDABLE, also=ROUNDING,
          why="no two batches of graphs have as many nodes or edges"),
    Truth("held_sampling", best=("evaluation_without_gradients",), change="evaluation_without_gradients",
          why="the graph of six calls of the model is kept while a sample is drawn"),
    Truth("held_vision_transformer", best=("checkpointing",), change="checkpointing",
          why="what 20 layers keep of 9216 patches, one picture at a time, with mixed precision on"),
    Truth("held_segmentation", best=("evaluation_batch",), change="evaluation_batch=1/8", others=EVALUATION,
          amounts=PARTS, why="validation with eight times the training's batch sets the peak"),
    Truth("held_super_resolution", best=("mixed_precision",), change="mixed_precision",
          why="activations of convolutions in 32 bits, one picture at a time, no repeated module"),
    Truth("held_word_vectors", best=("optimizer_8bit",), change="optimizer_8bit",
          why="two moments in 32 bits are half of all memory"),
    Truth("held_healthy_translation", why="mixed precision, accumulation, one length, a fused optimizer"),
]
