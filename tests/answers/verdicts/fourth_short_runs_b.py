# SPDX-License-Identifier: Apache-2.0
"""The other half of the truth of a fourth set of programs that end after 12 to 60 steps: programs/fourth_*.py that do not
accumulate.

They grow towards a bound that stands in the program, or for as long as a schedule in it says; they fill up and are
emptied; or they only move a lot. Written as fourth_short_runs_a.py was.
"""

from truth import FILLS, STAYS, Truth


def fills(program: str, steps: int, why: str) -> Truth:
    return Truth(f"fourth_{program}", FILLS, why, steps=(steps,), min_steps=steps)


def stays(program: str, steps: int, why: str) -> Truth:
    return Truth(f"fourth_{program}", STAYS, why, steps=(steps,), min_steps=steps)


# During part of the run, or most of it, there is more and more, towards a bound that the program shows.
BOUNDED = [
    stays("cached_epoch", 13, "ten batches, each put on the GPU in the first epoch and used in later ones"),
    stays("pipeline_micro", 14, "at most six micro-batches are under way, and none at the end of twelve"),
    stays("weak_features", 14, "features live as long as they are in a deque(maxlen=4): full after four steps"),
    stays("top_losses", 15, "a heap of ten pictures, which gives one away for each further one"),
    stays("key_queue", 16, "keys of at most ten batches: full after ten steps"),
    stays("session_minutes", 16, "sessions end after nine minutes, and one begins a minute: never more than nine"),
    stays("masks_by_length", 17, "a mask for each of eight lengths, the last of which comes in the fifteenth step"),
    stays("trimmed_context", 18, "what was heard is cut to its last 500 frames: ten steps' worth"),
    stays("child_ring", 19, "deque(maxlen=8) of attention maps, in a child process"),
    stays("prompt_lru", 20, "lru_cache(maxsize=12): full after twelve steps"),
    stays("candidate_ops", 22, "twelve operations, made when they are first used, all of them within twelve steps"),
    stays("control_variates", 28, "a correction for each of sixteen clients, while the updates of a round go with it"),
    stays("image_pool", 29, "a pool of a hundred pictures, six a step: full after seventeen steps, then they change"),
    stays("known_users", 30, "a state for each of forty shops, two a step: all known after twenty steps"),
    stays("labels_by_index", 33, "the teacher's answers to each of twenty batches: all there after twenty steps"),
    stays("small_committee", 34, "at most four models, one joins every fourth step: full after sixteen"),
    stays("block_history", 36, "vectors of each of 24 blocks, replaced from the second epoch on"),
    stays("swapped_adapters", 38, "at most three adapters on the GPU, another every fifth step"),
    stays("cross_batch", 42, "deque(maxlen=20) of vectors, begun after ten steps: full after thirty"),
    stays("rollback_three", 45, "at most three points, one every fifth step"),
    stays("matched_storage", 50, "at most 120 stacks of frames, four a step: full after thirty steps"),
    stays("longer_positions", 53, "tables as long as the longest text so far, which is 2,000 from step 40 on"),
    stays("league", 60, "at most six players, one every sixth step: full after 31 steps"),
    stays("timestep_rings", 60, "fifteen deque(maxlen=3) of errors: full after 45 steps"),
]

# As much more as the program plainly says, and no more after that.
SCHEDULED = [
    stays("more_negatives", 15, "eight negatives more a step until there are 64, in the eighth"),
    stays("inner_steps", 18, "an inner step more every third step until there are five"),
    stays("teacher_hump", 19, "three teachers come, one by one, and all go after fifteen steps"),
    stays("probe_after_features", 24, "features of twelve batches are collected, put together and used"),
    stays("tasks_join", 27, "four tasks join, one every fifth step"),
    stays("rank_schedule", 32, "the rank doubles three times, every eighth step"),
    stays("datastore", 40, "vectors of a corpus of 28 batches are stored, and looked up from then on"),
    stays("sorted_first", 40, "batches get longer during the first epoch of twenty, then come in any order"),
    stays("batch_doubling", 41, "the batch doubles every eighth step from eight to 128"),
    stays("gradual_unfreeze", 46, "one more of six layers gets gradients and moments every sixth step"),
    stays("stage_learners", 47, "a learner is added every fifth step until there are eight"),
    stays("label_rounds", 52, "24 pictures are labelled every fourth step until all 240 are"),
    stays("growing_resolution", 54, "pictures get larger every ninth step, four times"),
    stays("length_warmup", 57, "texts get longer by sixteen words every third step, from 32 to 256"),
    stays("four_tasks", 58, "the weights and slopes of each of four tasks of thirteen steps are remembered"),
]

# Within an episode, an epoch, a piece of work: fuller and fuller, then empty.
EMPTIED = [
    fills("eight_moves", 16, "eight moves with their graphs are listed until the agent learns from them"),
    fills("logged_every_six", 18, "losses of words are listed for six steps, read, and cleared"),
    fills("seven_words", 20, "keys and values of an answer of seven words, then of the next"),
    fills("prefetch_depth", 25, "up to six batches ahead, none at the end of an epoch of twelve steps"),
    fills("eval_collected", 30, "answers to six batches are collected every tenth step, scored and gone"),
    fills("long_story", 30, "keys and values of a story of at most forty words; the run ends before the story"),
    fills("metrics_reset", 48, "predictions of an epoch of twelve steps, reset when it ends"),
    fills("collect_every_eight", 49, "cycles that the collector, called by hand, frees every eighth step"),
    fills("cut_when_long", 51, "a list that is cut to eight when it has more than 24"),
    fills("writer_flushes", 55, "eleven pictures wait for the writer, which then writes and forgets them"),
]

# Nothing stays from one step to another, though it may look so.
MOVING = [
    stays("restored_forward", 12, "forward() is wrapped during a step, and what the wrapper saw goes with it"),
    stays("packed_and_popped", 13, "what autograd saves is in a table until backward() has taken all of it"),
    stays("removed_prehook", 17, "hooks with masks, removed when the forward pass is done"),
    stays("ragged_graphs", 20, "batches of five sizes by turns; the last one's vectors are still there"),
    stays("critic_turns", 26, "a graph of slopes within each of three steps out of four"),
    stays("collected_results", 43, "at most three evaluations are asked for and not yet taken out"),
    stays("rerooted_tree", 44, "a tree of at most four levels, of which a third goes on with each move"),
    stays("multi_scale", 59, "one of five sizes of pictures for five steps each, in changing order"),
]

FOURTH_SHORT_RUNS_B = [*BOUNDED, *SCHEDULED, *EMPTIED, *MOVING]
