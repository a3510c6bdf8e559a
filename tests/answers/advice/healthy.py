# SPDX-License-Identifier: Apache-2.0
"""Programs that do all that is commonly advised: advice on them has to save what it says, or not to be."""

from remedies import EVALUATION, HALVES, PARTS, same
from known_remedy import Truth

HEALTHY = [
    Truth("healthy_convolutions", imports=("torchvision",), others=HALVES,
          why="mixed precision, one size, fused optimizer, gradients to None"),
    Truth("healthy_checkpointed", imports=("transformers",), others=same("sequence_length", "optimizer_sgd"),
          why="checkpointing, autocast, accumulation, fused AdamW"),
    Truth("healthy_adapter", imports=("transformers",), others=same("train_batch_half", "sequence_length"),
          why="a frozen 16-bit model with an adapter, checkpointed"),
    Truth("healthy_inference", imports=("torchvision",), others=EVALUATION, amounts=PARTS,
          why="16 bits, inference mode, one size, results on the host"),
    Truth("healthy_generation", why="a cache of its full length from the start", quick=True),
    Truth("healthy_expandable", why="lengths of any size under expandable segments"),
    Truth("healthy_validation", others={**HALVES, **same("mixed_precision")},
          why="validation without gradients, in the training's batch"),
    Truth("healthy_frozen_backbone", imports=("torchvision",), others=same("train_batch_half"),
          why="a backbone in inference mode under a small head"),
    Truth("healthy_averaged", why="accumulation of single pictures, mixed precision, averages on the host"),
    Truth("healthy_loader", why="a small network with one worker and pinned batches"),
]
