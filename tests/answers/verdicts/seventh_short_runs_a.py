# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a seventh set of short runs: programs/seventh_*.py.

Written from reading the programs, and held against what PyTorch's own allocator says of them, before memtrace gave a
verdict on any, by someone who had read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, **more):
    return Truth(f"seventh_{program}", memory, why, steps=(steps,), min_steps=steps, **more)


SEVENTH_SHORT_RUNS_A = [
    # Of 12 to 20 steps.
    of(GROWS, "anchor_grid", 16,
       "Anchors are cached by the image's number too, and the stream gives each image a new one: four grids a step.",
       # 16 × 16 cells, 3 sizes, 4 coordinates: 12,288 bytes an image.
       kept_by=r"\bgrids\b", bytes_per_step=4 * 16 * 16 * 3 * 4 * 4),
    of(GROWS, "event_memory", 20,
       "The nodes' memory is renewed without detach() and no gradient is turned off, so its graph goes back through "
       "every event.",
       kept_by=r"\bstate\b"),
    of(GROWS, "sample_sheet", 14,
       "Only the drawing takes the last eight rows, the list itself is never cut; four samples keep the storage of all "
       "16.",
       kept_by=r"\brows\b", bytes_per_step=16 * 3 * 32 * 32 * 4),
    of(GROWS, "blockwise_adam", 18,
       "Moments are kept by views of the parameters, which are new objects each step, so that none is found again.",
       # Blocks of 16,384 bytes: eight and one for the weights; biases of 1,024 and 64 bytes (512); two moments of each.
       kept_by=r"\bstate\b", bytes_per_step=2 * (8 * 16_384 + 1_024 + 16_384 + 512)),
    of(STAYS, "support_set", 18,
       "A deque of 24 batches of embeddings, which is full after 24 steps."),
    of(STAYS, "balanced_memory", 16,
       "At most 192 images, of which eight come a step: the memory is full after 24 steps and then one goes for each "
       "that comes."),
    of(STAYS, "cached_volumes", 14,
       "One resampled scan for each of 20 patients, every one of whom comes within the first 20 steps."),
    of(STAYS, "anderson_mixing", 20,
       "Points and residuals of the last 30 steps; the oldest goes when there are more."),
    # Of 21 to 40 steps.
    of(GROWS, "left_context", 32,
       "The cut to 24 is made along the batch, which has two, instead of the time: each layer keeps every frame.",
       # Two layers, two streams, eight frames of 64 numbers.
       kept_by=r"\bleft\b", bytes_per_step=2 * 2 * 8 * 64 * 4),
    of(GROWS, "herded_exemplars", 24,
       "Four exemplars are right for ten classes, but they are kept for each session and class: eight more a session, "
       "beyond the 40 that are meant.",
       kept_by=r"\bkept\b", bytes_per_step=2 * 4 * 3 * 16 * 16 * 4),
    of(GROWS, "bottleneck_maps", 30,
       "Each look registers one more forward hook that is never removed, and each hook's probe keeps a map of its own.",
       # Two volumes of 12 × 12 × 12.
       kept_by=r"_forward_hooks|\bmaps\b|\bprobe\b", bytes_per_step=2 * 12 ** 3 * 4),
    of(GROWS, "flow_times", 36,
       "Error maps are kept by a time that is a random real number: eight for each at most, but no time comes twice.",
       # Four images' maps share one storage.
       kept_by=r"\bmaps\b", bytes_per_step=4 * 3 * 16 * 16 * 4),
    of(STAYS, "temporal_ensemble", 32,
       "One running mean for each of 160 images, four of them new a step in the first pass of 40 steps."),
    of(STAYS, "tracked_objects", 30,
       "Two objects come a frame, each is dropped 37 frames later at the latest, and each has six embeddings at most."),
    of(FILLS, "speaker_trials", 35,
       "An epoch's embeddings are collected over 25 steps and cleared when its error rate has been worked out."),
    of(STAYS, "edge_window", 28,
       "The latest 1280 edges, 32 of which come a step: the window is full after 40 steps."),
    # Of 41 to 60 steps.
    of(GROWS, "block_cache", 45,
       "Beyond 16 blocks a key leaves the order, but its block stays in the dictionary; sampled seeds never recur.",
       kept_by=r"\bblocks\b", bytes_per_step=16 * 96 * 4),
    of(GROWS, "shape_codes", 50,
       "Each shape's code is added to the optimizer and never leaves it: the code and two moments a step.",
       kept_by=r"param_groups|\boptimizer\b|\bstate\b", bytes_per_step=3 * 8 * 256 * 4),
    of(GROWS, "pseudo_labels", 48,
       "Three pairs come a step and one goes once there are more than 12, so that two a step stay.",
       # A crop of 6,912 bytes takes 7,168, a mask of 576 bytes 1,024.
       kept_by=r"\bpairs\b", bytes_per_step=2 * (7_168 + 1_024)),
    of(GROWS, "backtest_windows", 42,
       "reset() empties the forecasts only; what was to be forecast stays, as views of whole windows, three batches a "
       "step.",
       # 16 windows of 60 numbers, 3,840 bytes, take 4,096.
       kept_by=r"\bactual\b", bytes_per_step=3 * 4_096),
    of(STAYS, "timestep_losses", 50,
       "Six error maps for each of 40 timesteps at most, each timestep once in ten steps: full after 60 steps."),
    of(STAYS, "progressive_columns", 54,
       "A column more every ten steps up to eight of them, the last of which comes with the 71st step."),
    of(FILLS, "rollout_loss", 44,
       "The graph of an episode grows for 32 frames, and its backward pass frees it."),
    of(STAYS, "gradient_table", 46,
       "One gradient for each of 60 mini-batches, all of which come within the first 60 steps."),
]
