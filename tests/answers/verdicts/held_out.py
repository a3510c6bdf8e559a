# SPDX-License-Identifier: Apache-2.0
"""The truth of programs that memtrace has not been tuned on: programs/held_*.py.

Written from reading the programs, before memtrace ran on any of them; the analyzer and the recorder were
finished before. Half accumulate, half look as if they did. Judged once, into HELD_OUT.md:

    python tests/answers/verdicts/make_results.py --held-out --steps 100 --seeds 0
"""

from truth import FILLS, GROWS, STAYS, Truth

QUIET = ("steady", "warmup_plateau")
SAW = ("sawtooth", *QUIET)
RECORDS = (*SAW, "bounded_records")

ACCUMULATE = [
    Truth("held_generator_pairs", GROWS,
          "a local list of the generator keeps both views (32 × 3 × 16 × 16 floats) of every batch, of "
          "which the last two entries are used",
          kept_by=r"\bseen\b", bytes_per_step=2 * 32 * 3 * 16 * 16 * 4),
    Truth("held_moe_routing", GROWS,
          "each of two layers lists the gates (16 × 32 × 8 floats) of every training batch, of which the "
          "last sixteen are used",
          kept_by=r"\brouted\b", bytes_per_step=2 * 16 * 32 * 8 * 4),
    Truth("held_critic_slopes", GROWS,
          "the monitor's curve of slopes is a list of tensors made with create_graph=True, which no "
          "backward goes through: each keeps the graphs of a forward and of a backward call",
          kept_by=r"\bcurves\b"),
    Truth("held_born_again", GROWS, min_steps=60,
          why="every ten steps a new generation, which refers to the one before: a chain of models with "
              "their last gradients and Adam's moments",
          kept_by=r"\bprevious\b",
          # Two weights and two biases: the parameters, gradients, and two moments.
          bytes_per_step=4 * (64 * 128 * 4 + 512 + 128 * 32 * 4 + 512) / 10),
    Truth("held_async_tasks", GROWS,
          "a list keeps every task, and a finished task its result: logits of 32 × 500 floats, four times "
          "a round",
          # No rate: the program does not say whether a step is a round or a request.
          kept_by=r"\btasks\b"),
    Truth("held_tensor_hooks", GROWS,
          "each step registers a hook on the weight and removes none; the hook's closure keeps a mask of "
          "the weight's 128 × 64 floats",
          kept_by=r"hook|\bmask\b", bytes_per_step=128 * 64 * 4),
    Truth("held_task_gradients", GROWS,
          "the trunk's gradients (4,704 floats) of every step join a list of their task, of which the last "
          "one is used",
          kept_by=r"\bgradients\b", bytes_per_step=37 * 512),
    Truth("held_function_stash", GROWS, min_steps=60,
          why="backward takes out what the training's forward put into the class's dictionary; three batches "
              "of each evaluation (128 × 256 floats, every eight steps) stay",
          kept_by=r"\bstash\b", bytes_per_step=3 * 128 * 256 * 4 / 8),
    Truth("held_packed_tensors", GROWS,
          "the list that saved tensors are packed into is never emptied: it keeps the activations of every "
          "step",
          kept_by=r"\bpacked\b"),
    Truth("held_denoise_trace", GROWS, min_steps=60,
          why="the default argument is one list for all calls: eight states of 4 × 16 × 16 floats for each "
              "sample, every five steps",
          kept_by=r"\btrace\b|__defaults__|\bsample\b", bytes_per_step=8 * 4 * 16 * 16 * 4 / 5),
    Truth("held_influence", GROWS,
          "the gradients of each of 32 examples stay, as a dictionary in a named tuple in a list; the last "
          "are used",
          kept_by=r"\bscored\b",
          bytes_per_step=32 * (16 * 32 + 16 + 4 * 16 + 4) * 4),
    Truth("held_beam_hypotheses", GROWS,
          "the archive keeps the hypotheses of each sentence, whose states are rows of the last step's "
          "8 × 256 floats",
          # No rate: the program does not say whether a step is a sentence or a word.
          kept_by=r"\barchive\b"),
]

DO_NOT = [
    Truth("held_weak_cache", STAYS,
          "the cache holds features weakly; the loop holds those of this batch and of the one before",
          shapes=QUIET),
    Truth("held_snapshot_ensemble", STAYS,
          "three copies of the weights after 12, 24 and 36 steps, none later",
          shapes=QUIET, min_steps=100),
    Truth("held_moe_auxiliary", STAYS,
          "the list of losses is taken away in each step, and the load is one buffer changed in place",
          shapes=QUIET),
    Truth("held_early_stopping", STAYS,
          "one copy of the weights, which is replaced when the score is better: often at first, then rarely",
          shapes=RECORDS),
    Truth("held_beam_search", FILLS,
          "keys and values of the beams grow by a word at a time and go with the answer",
          shapes=RECORDS),
    Truth("held_sliding_window", FILLS,
          "three to eleven losses of 512 bytes as blocks are listed in each document, in a local",
          shapes=RECORDS),
    Truth("held_checkpoint_average", STAYS,
          "deque(maxlen=5) of the weights every four steps: full after 20 steps",
          shapes=RECORDS),
    Truth("held_async_prefetch", STAYS,
          "at most four batches in the queue and one in each of three coroutines",
          shapes=RECORDS),
    Truth("held_meta_learning", STAYS,
          "adapted weights and the graph through them are locals, freed when a step ends",
          shapes=QUIET),
    Truth("held_gradient_penalty", STAYS,
          "the graph of the gradients goes with backward; the history is of Python numbers",
          shapes=SAW),
    Truth("held_bucket_tables", STAYS,
          "at most eight tables, the largest of 192 × 192 floats; six in ten batches of the first twenty "
          "find theirs, nearly all later",
          shapes=RECORDS),
    Truth("held_shuffle_buffer", STAYS,
          "the buffer has a batch more after each step until it has 40, in the first two fifths of the run; "
          "then one comes for each that goes",
          shapes=QUIET, min_steps=100),
]

HELD_OUT = [*ACCUMULATE, *DO_NOT]
