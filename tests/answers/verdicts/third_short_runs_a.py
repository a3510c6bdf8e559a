# SPDX-License-Identifier: Apache-2.0
"""One half of the truth of a third set of programs that end after 12 to 60 steps: programs/third_*.py.

Pictures, generators, contrastive learning, reinforcement learning, optimizers, evaluations, loaders, handled errors.
Written from reading the programs, and held against what PyTorch's own allocator says of them, before memtrace gave a
verdict on any, by someone who had read neither the analyzer nor how it decides. Here most do not accumulate: the six
that do are ordinary leaks, so that a rule that calls everything harmless fails.

As in short_runs.py each has one length, and of one that does not accumulate any shape that is not a leak's is right.
"""

from short_runs import COLLECTED
from truth import FILLS, GROWS, STAYS, Truth


def grows(program: str, steps: int, why: str, **more) -> Truth:
    return Truth(f"third_{program}", GROWS, why, steps=(steps,), min_steps=steps, **more)


def fills(program: str, steps: int, why: str) -> Truth:
    return Truth(f"third_{program}", FILLS, why, steps=(steps,), min_steps=steps)


def stays(program: str, steps: int, why: str) -> Truth:
    return Truth(f"third_{program}", STAYS, why, steps=(steps,), min_steps=steps)


# Bytes as blocks: each tensor rounded up to 512.
ACCUMULATE_A = [
    grows("boxes_for_precision", 14,
          "scores (8 × 10 × 24 × 24 floats) and boxes (8 × 4 × 24 × 24) of every batch are listed for the end",
          kept_by=r"\bscores\b|\bboxes\b", category=COLLECTED, bytes_per_step=8 * (10 + 4) * 24 * 24 * 4),
    grows("return_statistics", 21,
          "returns of all rollouts (16 × 512 floats) are listed, of which a mean and the last deviation are used",
          kept_by=r"\breturns\b", bytes_per_step=16 * 512 * 4),
    grows("uphill_moves", 34,
          "moves uphill of all weights (64 × 128 and 128 × 32 floats and two biases) are listed; the last are used",
          kept_by=r"\bclimbs\b", bytes_per_step=64 * 128 * 4 + 512 + 128 * 32 * 4 + 512),
    grows("weight_deviations", 44,
          "a vector of all weights (4,138 floats, 16,896 bytes as a block) a step is listed; the last twenty are used",
          kept_by=r"\bdeviations\b", bytes_per_step=16_896),
    grows("skipped_batches", 50,
          "every other batch (10 × 3 × 44 × 44 floats, 232,448 bytes as a block) raises an error and is put aside",
          kept_by=r"\bskipped\b", bytes_per_step=232_448 / 2),
    grows("mixed_pool", 58,
          "all batches (16 × 3 × 36 × 36 floats) stay in the pool, as only a copy of it is cut",
          kept_by=r"\bpool\b", bytes_per_step=16 * 3 * 36 * 36 * 4),
]

# It fills, during part of the run or most of it, towards a bound that the program shows.
BOUNDED_A = [
    stays("newton_pairs", 12, "deque(maxlen=8) of moves and of changes, from the second step on: full after nine"),
    stays("streams_join_in", 15,
          "at most five streams, one more every two steps, each with memory of its own: full after nine steps"),
    stays("two_level_queue", 16, "deque(maxlen=11) of keys at two levels: full after eleven steps"),
    stays("replay_bytes", 19, "episodes of six lengths, at most 11 MB: full after some fourteen steps"),
    stays("mosaic_pool", 20, "a list from which the first goes when there are more than sixteen"),
    stays("pasted_things", 23, "deque(maxlen=6) of crops for each of eight kinds, three a step: full after sixteen"),
    stays("border_maps", 31, "a map for each of twenty pictures, made in the first epoch and used in the second"),
    stays("former_generators", 33, "deque(maxlen=5) of copies, one every five steps: full after 25 steps"),
    stays("view_cache", 37, "a dictionary of at most 28, from which the first to come goes: full after 27 steps"),
    stays("replay_chunks", 41, "four chunks of nine steps, the last made after 27 steps; then they are written over"),
    stays("deeper_prefetch", 43, "batches that wait, one more every seven steps, at most six: after 35 steps"),
    stays("former_players", 48, "at most seven, one every six steps, copied when it joins: full after 36 steps"),
    stays("experts_by_turns", 53,
          "Adam's moments, made when one of ten experts has its first slope, every four steps: the last after 36"),
]

# It comes with a window of work, and goes with it.
EMPTIED_A = [
    fills("summed_losses", 20, "six losses wait with their graphs; two of the next six are there when the run ends"),
    fills("rollout_begun", 28, "a rollout of twelve steps; four of the third are there when the run ends"),
    fills("epoch_begun", 39, "logits of thirty steps; nine of the second epoch are there when the run ends"),
    fills("depth_checked", 46, "answers of eleven steps, and of eight batches of a validation, in locals"),
    fills("long_episodes", 57, "states and chances of an episode of nineteen steps, with their graph"),
]

# It comes once, or what a step needs gets larger, or varies, and goes with the step.
REPLACED_A = [
    stays("fresh_targets", 13, "a copy of the network is replaced in each step"),
    stays("longer_clips", 17, "a clip gets two frames longer in each step, up to forty; only the step's own is alive"),
    stays("double_buffer", 18, "two buffers by turns; pictures get larger during sixteen steps, then stay"),
    stays("thawed_stages", 25,
          "as written, a stage of four joins every five steps, with gradients and Adam's moments: the last after 20"),
    stays("more_proposals", 26, "sixteen proposals more in each step, up to 400; they go with the step"),
    stays("more_crops", 40, "a small crop more every five steps, up to seven: after thirty steps"),
    stays("halved_batches", 52, "the last error has its activations; it is replaced every four steps"),
    stays("growing_painter", 60,
          "a model that grows as written: four layers on each side, one every fifteen steps; pictures grow with it"),
]

LOOK_ALIKES_A = [*BOUNDED_A, *EMPTIED_A, *REPLACED_A]

THIRD_SHORT_RUNS_A = [*ACCUMULATE_A, *LOOK_ALIKES_A]
