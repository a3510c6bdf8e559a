# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of an eighth set of short runs: programs/eighth_*.py.

Written from reading the programs, and held against what PyTorch's own allocator says of them, before memtrace gave a
verdict on any, by someone who had read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, **more):
    return Truth(f"eighth_{program}", memory, why, steps=(steps,), min_steps=steps, **more)


EIGHTH_SHORT_RUNS_A = [
    # 12 to 20 steps
    of(GROWS, "arm_controller", 16,
       "The plan is never cut from its graph: each of the three improvements of a step stays as what clamp() saved.",
       kept_by=r"\bplan\b",
       bytes_per_step=3 * 12 * 64 * 4 * 4),  # iterations, horizon, arms, controls, of 4 bytes: 36,864
    of(GROWS, "averaged_denoiser", 18,
       "swap_out() reads the last of the stored weights and does not take it off: each third step leaves a copy.",
       kept_by=r"\bstored\b",
       # (80 x 128 + 128 x 64) x 4 and two biases of 512, every third step: 24,917.3
       bytes_per_step=(80 * 128 * 4 + 512 + 128 * 64 * 4 + 512) / 3),
    of(FILLS, "box_recall", 20,
       "The overlaps and classes of a checkpoint's 15 batches are collected, and cleared when its recall is computed."),
    of(STAYS, "rolling_forecast", 20,
       "The context is cut to the last 24 hours, and the errors are a deque of 36 at most."),
    of(FILLS, "gripper_episodes", 18,
       "The log-probabilities hold the graphs of an attempt's 14 moves, and are replaced by empty lists at its end."),
    # 21 to 40
    of(GROWS, "optimistic_descent", 36,
       "Each parameter's list of past gradients is only read at its last two, and never cut.",
       kept_by=r"\bpast\b",
       # Generator: 16 x 64 and 64 x 64 with biases; critic: 64 x 64 and 64 x 1 with biases: 39,424
       bytes_per_step=(16 * 64 * 4 + 512 + 64 * 64 * 4 + 512) + (64 * 64 * 4 + 512 + 512 + 512)),
    of(GROWS, "latent_codes", 30,
       "Only the local name is bound to the last four batches of codes: the list that the object has is never cut.",
       kept_by=r"\bcodes\b",
       bytes_per_step=128 * 32 * 4),  # 16,384
    of(GROWS, "memory_frames", 30,
       "At the end of a clip of five frames its keys are removed, but its values stay under a name that never returns.",
       kept_by=r"\bvalues\b",
       bytes_per_step=16 * 24 * 24 * 4),  # 36,864
    of(STAYS, "instance_features", 30,
       "One feature of each of the 640 pictures, all of which have been seen after 40 steps."),
    of(STAYS, "coordinate_grids", 40,
       "A grid for each of 36 shapes, all of which have been seen after 36 steps."),
    # 41 to 60
    of(GROWS, "residual_points", 48,
       "The limit of 2,048 is held against the number of coordinates, which is 2: 128 points are added in every step.",
       kept_by=r"\bpoints\b",
       bytes_per_step=128 * 2 * 4),  # 1,024
    of(GROWS, "mel_views", 54,
       "The spectrograms are cached by epoch and utterance, so that no key comes again after its step: four in each.",
       kept_by=r"\bcache\b",
       bytes_per_step=4 * 30 * 64 * 4),  # (4000 - 256) // 128 + 1 = 30 frames of 64 bands: 30,720
    of(GROWS, "edge_attention", 45,
       "Every epoch of five steps registers one more hook, none is removed, and each keeps the totals of its report.",
       kept_by=r"hook",
       bytes_per_step=4096 * 4 * 4 / 5),  # 13,107.2
    of(STAYS, "spline_grids", 50,
       "The grids are refined by 8 knots every six steps, from 8 up to 80, which are reached after 54 steps."),
    of(STAYS, "stale_workers", 45,
       "Each of 60 workers has one copy of the weights, which its next one replaces; all have one after 60 steps."),
    of(STAYS, "decoded_clips", 56,
       "The least recently used clips are dropped before the cache exceeds 2,000,000 bytes, which are 81 clips."),
]
