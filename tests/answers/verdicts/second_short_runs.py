# SPDX-License-Identifier: Apache-2.0
"""The truth of a second set of programs that end after 12 to 60 steps: programs/second_*.py.

Written when the first set was not blind any more, from reading the programs and from what PyTorch's allocator
says of them (second_short_truths.py), before memtrace gave a verdict on any of them, by someone who had read neither
the analyzer nor how it decides. Nearly half accumulate, the others look as if they did. Judged by

    python tests/answers/verdicts/make_results.py --short-runs second

As in short_runs.py each has one length, and of one that does not accumulate any shape that is not a leak's is right.
The comment `# step` is at the end of a line that runs once in each step.
"""

from short_runs import COLLECTED
from truth import FILLS, GROWS, STAYS, Truth


def grows(program: str, steps: int, why: str, **more) -> Truth:
    return Truth(f"second_{program}", GROWS, why, steps=(steps,), min_steps=steps, **more)


def fills(program: str, steps: int, why: str) -> Truth:
    return Truth(f"second_{program}", FILLS, why, steps=(steps,), min_steps=steps)


def stays(program: str, steps: int, why: str) -> Truth:
    return Truth(f"second_{program}", STAYS, why, steps=(steps,), min_steps=steps)


# Bytes as blocks: each tensor rounded up to 512.
ACCUMULATE = [
    grows("soft_targets", 12,
          "the teacher's answers (96 × 400 floats) are remembered under the step's number instead of the batch's",
          kept_by=r"\bsoft\b", category=COLLECTED, bytes_per_step=96 * 400 * 4),
    grows("crash_tape", 13,
          "a tape has all batches (64 × 6 × 160 floats, 64 labels), of which the last three are used",
          kept_by=r"\bbatches\b", bytes_per_step=64 * 6 * 160 * 4 + 64 * 8),
    grows("weak_keys", 14,
          "a WeakKeyDictionary whose values (64 × 512 floats) know their keys, so that no key ever goes",
          kept_by=r"\bcached\b|WeakKeyDictionary|\bvalues\b", phase="forward", bytes_per_step=64 * 512 * 4),
    grows("preview_sheets", 15,
          "every three steps a sheet of 36 pictures (3 × 32 × 32 floats) joins a list",
          kept_by=r"\bsheets\b", phase="evaluation", category=COLLECTED, bytes_per_step=36 * 3 * 32 * 32 * 4 / 3),
    grows("chat_endings", 16,
          "keys and values (two layers, 60 × 128 floats each) of each conversation stay in a dictionary, as its end "
          "names it by a text and the dictionary by a number",
          kept_by=r"\bopen\b", phase="evaluation", category=COLLECTED, bytes_per_step=4 * 60 * 128 * 4),
    grows("log_records", 17,
          "a logging handler lists all records, whose argument is the logits (8 × 32 × 200 floats)",
          kept_by=r"\brecords\b|\bargs\b", phase="forward", category=COLLECTED, bytes_per_step=8 * 32 * 200 * 4),
    grows("shared_encoder", 18,
          "each loss is listed with its graph, and both backward calls kept what the graph had saved: batch, "
          "activations, labels",
          # No rate: what the heads and losses save depends on how they are implemented.
          kept_by=r"\bhistory\b", phase="forward", category="activations"),
    grows("exit_stack", 19,
          "a buffer a step (32 × 3 × 40 × 40 floats) is an argument of a callback on an ExitStack that is left in the "
          "end only",
          kept_by=r"\bstack\b|_exit_callbacks|ExitStack", bytes_per_step=32 * 3 * 40 * 40 * 4),
    grows("finished_jobs", 20,
          "a list has all jobs of a thread pool, and each finished one its result (24 × 3 × 28 × 28 floats)",
          kept_by=r"\bjobs\b", bytes_per_step=24 * 3 * 28 * 28 * 4),
    grows("optimizer_history", 22,
          "the optimizer's state lists all gradients (128 × 96 and 96 × 10 floats and two biases), of which the last "
          "three are used",
          kept_by=r"\bhistory\b", bytes_per_step=128 * 96 * 4 + 512 + 4096 + 512),
    grows("child_scores", 24,
          "in a process of its own: the logits of two batches (128 × 100 floats each) a round stay in a list",
          # No rate: which of the two processes' steps count is not said.
          kept_by=r"\bscores\b", phase="evaluation", category=COLLECTED),
    grows("numbered_buffers", 26,
          "a mean of features (24 × 20 × 20 floats) becomes another buffer of the model in each step",
          kept_by=r"\bmean_|\b_?buffers\b", phase="forward", bytes_per_step=24 * 20 * 20 * 4),
    grows("chained_errors", 28,
          "an attribute has the last error, whose cause is the one before, and so on: each has the batch (64 × 128 "
          "floats) and its activations (64 × 256) in its traceback's frames",
          kept_by=r"\blast\b", phase="forward", bytes_per_step=64 * 128 * 4 + 64 * 256 * 4),
    grows("teed_batches", 30,
          "the second iterator of itertools.tee is only used in the end, so that all batches (64 × 160 floats) wait "
          "for it",
          kept_by=r"\blater\b|\btee", bytes_per_step=64 * 160 * 4),
    grows("collocation", 32,
          "residuals (1,024 floats) are listed with their graph, which knows the leaf that they are for (1,024 × 2 "
          "floats) with its gradient",
          kept_by=r"\bresiduals\b", bytes_per_step=1024 * 4 + 2 * 1024 * 2 * 4),
    grows("tensor_keys", 34,
          "functools.cache on a function of a tensor: no key is ever the same; points (96 × 3 floats) and distances "
          "(96 × 96) stay",
          kept_by=r"\bcache\b|lru_cache|\bdistances\b", phase="forward", bytes_per_step=1536 + 96 * 96 * 4),
    grows("tenant_adapters", 36,
          "an adapter every three steps (for each of two layers 8 × 256 and 192 × 8 floats, or the reverse, and "
          "their gradients) is switched off and never taken away",
          kept_by=r"\badapters\b", category="weights|gradients", bytes_per_step=2 * 2 * (8 * 256 + 192 * 8) * 4 / 3),
    grows("user_windows", 38,
          "each user's deque is bounded, but six new users a step come, and none goes (copies of 1,024 floats)",
          kept_by=r"\bwindows\b", phase="forward", category=COLLECTED, bytes_per_step=6 * 1024 * 4),
    grows("actor_process", 40,
          "in a process of its own: the states (256 × 24 floats) of all episodes stay in a list of lists",
          # No rate, as with child_scores.
          kept_by=r"\bepisodes\b", phase="evaluation", category=COLLECTED),
    grows("observers", 42,
          "every three steps an evaluation, whose bound method stays among the listeners, with its logits (256 × 60 "
          "floats)",
          kept_by=r"\blisteners\b|\boutputs\b", phase="evaluation", category=COLLECTED,
          bytes_per_step=256 * 60 * 4 / 3),
    grows("reference_features", 45,
          "every five steps the same features (3 × 40 × 256 floats) join the list of those of real pictures once more",
          kept_by=r"\breal\b", phase="evaluation", category=COLLECTED, bytes_per_step=3 * 40 * 256 * 4 / 5),
    grows("immutable_state", 46,
          "each step's state is a new object, whose tuple has all means (20 × 128 floats) so far and one more",
          kept_by=r"\bseen\b", category=COLLECTED, bytes_per_step=20 * 128 * 4),
    grows("epoch_records", 48,
          "the logits (64 × 30 floats) of an epoch's eight steps are in its record, and the records of all epochs are "
          "kept",
          kept_by=r"\blogits\b|\bepochs\b", phase="forward", category=COLLECTED, bytes_per_step=64 * 30 * 4),
    grows("expiry_on_hit", 50,
          "an entry (12 × 128 floats) goes only if it is asked for after its time, and hardly any is: four more a step",
          # No rate: the program does not say whether a step is a round or a prompt.
          kept_by=r"\bentries\b", phase="evaluation", category=COLLECTED),
    grows("last_words", 52,
          "the list of last words' states is one of views that keep the states of all words (8 × 16 to 48 × 96 floats)",
          kept_by=r"\bends\b", phase="forward", category=COLLECTED, bytes_per_step=8 * 32 * 96 * 4, tolerance=0.25),
    grows("loss_parts", 54,
          "three numbers a step stay on the GPU, each in a block of 512 bytes, beside activations of some megabytes",
          kept_by=r"\bpoints\b", phase="forward", bytes_per_step=3 * 512),
    grows("teacher_agrees", 56,
          "from the twenty-first step on the teacher's logits (32 × 300 floats) stay in a list",
          # No rate: of all steps or of those since then.
          kept_by=r"\banswers\b", category=COLLECTED),
    grows("half_cleared", 58,
          "of four lists two are cleared after an update; states (128 × 64 floats) and values (128 × 16) stay",
          kept_by=r"\bstates\b|\bvalues\b", bytes_per_step=128 * 64 * 4 + 128 * 16 * 4),
    grows("turned_pictures", 60,
          "two pictures (3 × 48 × 48 floats) a step are cached under an angle that never comes again",
          kept_by=r"\bdone\b", bytes_per_step=2 * 3 * 48 * 48 * 4),
]

# It fills, during part of the run or all of it, towards a bound that the program shows.
BOUNDED = [
    stays("solver_history", 12, "the last four answers of a network; full after four steps"),
    stays("slots_by_number", 18, "fourteen slots by the step's number: full after fourteen steps"),
    stays("rotary_tables", 19,
          "an lru_cache of twenty-four tables by length; the run meets fewer lengths than that, most of them new"),
    stays("configured_window", 20, "a deque whose maxlen of 24 is in the settings; the run ends before it is full"),
    stays("cascade_units", 25,
          "a model that grows as written: a group of units every three steps, up to eight, the last after 22 steps"),
    stays("recent_errors", 26,
          "a deque(maxlen=5) of errors with their batches and activations; two errors in three steps"),
    stays("child_recent", 30, "in a process of its own: a deque(maxlen=8) of features"),
    stays("due_tracks", 33,
          "ten new features a step live for three to nine steps: as many go as come from the ninth step on"),
    stays("picture_lru", 36,
          "an OrderedDict of at most 56 encodings, some three new ones a step: full after some twenty steps"),
    stays("resident_adapters", 39,
          "an adapter every three steps; at most four are on the GPU, the others go to the host: full after ten steps"),
    stays("more_callers", 42,
          "conversations that end after three to eight turns, one at a time at first, six from the twenty-first step on"),
    stays("prefix_budget", 44,
          "prefixes of at most 1,500 words in all; the oldest make way: full after two thirds of the run"),
    stays("task_heads", 50,
          "a model that grows as written: a head every ten steps, for each of five tasks, with Adam's moments"),
    stays("first_epoch_cache", 52, "a batch a step stays on the GPU in the first epoch, of 32 steps; then none"),
    stays("scale_anchors", 54, "a grid for each of six sizes, a larger one every nine steps"),
    stays("doubling_bank", 58,
          "a tensor that is made twice as long when it is full, up to 2,048 rows, for the last time in the 33rd step"),
]

# It comes with a window of work, and goes with it.
EMPTIED = [
    fills("guessed_words", 14,
          "keys and values get two words longer in each of five rounds, and go with the answer"),
    fills("cleared_outputs", 45,
          "logits of an epoch's nine steps, and of its six batches of validation, are listed and cleared at its end"),
    fills("gathered_batches", 56, "embeddings of eight batches wait with their graphs, and are cleared"),
    fills("flushed_losses", 60, "losses and norms of ten steps, in blocks of 512 bytes, then they go to the host"),
    fills("whole_episodes", 60, "chances of an episode's four to twelve moves with their graphs, dropped at its end"),
    stays("written_snapshots", 35, "a copy of the weights every five steps, which goes when a thread has copied it"),
]

# It comes once, or what a step needs gets larger, or varies, and goes with the step.
REPLACED = [
    stays("sharpness_aware", 13, "where the weights were is replaced in each step"),
    stays("slow_weights", 15,
          "Adam's moments in the first step, slow weights in the fifth, an average in the tenth; none later"),
    stays("batch_warmup", 16, "batches get larger during twelve steps, then stay; only the step's own is alive"),
    stays("two_losses", 17, "the graph is kept for the second backward call, and goes with it; what is noted is on the "
          "host"),
    stays("seen_tokens", 22, "more patches of each picture are seen from step to step; only the step's own are alive"),
    stays("three_averages", 24, "an average of the weights is made after 3, 8 and 14 steps"),
    stays("ragged_boxes", 34, "pictures and boxes of other sizes in each step"),
    stays("late_curvature", 38, "a mean of gradients from the first step, an estimate of curvature from the eighth"),
    stays("lazy_slopes", 46, "a penalty every eight steps, which needs more than the other steps do"),
]

DO_NOT = [*BOUNDED, *EMPTIED, *REPLACED]

SECOND_SHORT_RUNS = [*ACCUMULATE, *DO_NOT]
