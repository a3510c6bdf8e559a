# SPDX-License-Identifier: Apache-2.0
"""Programs whose memory looks as if it accumulated and does not; and larger ones in which it does.

The truths are written from reading the programs. Where memory fills and empties, the line that fills
is marked in the program. "Any shape" stands for any that is not a leak's: a plateau and a steady
series differ in where the warm-up ends, and a reader is told the same by both.
"""

from truth import FILLS, GROWS, STAYS, Truth

QUIET = ("steady", "warmup_plateau")
SAW = ("sawtooth", *QUIET)

# Memory that comes once: moments, copies, layers, second optimizers.
WARM_UP = [
    Truth("look_lazy_adam", STAYS,
          "AdamW's moments are made in the first step; the rest streams",
          shapes=QUIET),
    Truth("look_unfrozen_layers", STAYS,
          "gradients and moments appear with each of two thaws, once",
          shapes=QUIET),
    Truth("look_second_optimizer", STAYS,
          "a second model and its moments appear half-way, once",
          shapes=QUIET),
    Truth("look_ema_copy", STAYS,
          "one copy of the weights is made after two fifths of the run",
          shapes=QUIET),
    Truth("look_checkpoints", STAYS,
          "the loaded state stays as `saved`; clones of the weights go when `save` returns",
          shapes=QUIET),
    Truth("look_workspaces", STAYS,
          "a workspace for each stream, when it is first used; four in all",
          shapes=QUIET),
    Truth("look_averaged", STAYS, "the averaged model is made once, after two thirds", shapes=QUIET),
    Truth("look_lr_finder", STAYS,
          "the copies of the state are locals of the search and go with it; Adam's moments are "
          "replaced, not added",
          shapes=QUIET),
    Truth("look_sanity_check", STAYS, "five outputs are kept from before training, none later", shapes=QUIET),
    Truth("look_lazy_modules", STAYS,
          "lazy parameters, and a table for each of three lengths in the first three steps",
          shapes=QUIET),
    Truth("look_model_rebuilt", STAYS,
          "the model is replaced twice by one twice as wide; the old one goes",
          shapes=QUIET),
    Truth("look_optimizer_rebuilt", STAYS,
          "one buffer a parameter, then two from the first change on; each optimizer goes when the "
          "next one comes",
          shapes=SAW),
    Truth("look_compiled", STAYS, "the second compilation adds no memory that stays", shapes=QUIET),
    Truth("look_cuda_graph", STAYS,
          "the graph's pool is made once, at capture; replays allocate nothing",
          shapes=QUIET, min_steps=300,
          why_steps="a replay allocates nothing: what tells its steps is one copy and one launch each",
          known_wrong="unknown: three steps of the warm-up and the capture count, the replays do not"),
]

# Memory that is bounded by a number in the program.
BOUNDED = [
    Truth("look_recent_window", STAYS,
          "deque(maxlen=12) of embeddings of 128 KiB is full after 12 steps",
          shapes=QUIET, quick=True),
    Truth("look_filling_queue", STAYS,
          "deque(maxlen=1024): it fills during the whole run, up to 128 MiB, and no further"),
    Truth("look_lru_cache", STAYS,
          "lru_cache(maxsize=16) of masks of different sizes; the sixteen held change",
          shapes=(*SAW, "bounded_records")),
    Truth("look_replay_buffer", STAYS,
          "50,000 places, allocated at the start and written over",
          shapes=QUIET),
    Truth("look_ring_buffer", STAYS, "eight slots; each frame takes the place of the oldest", shapes=QUIET),
    Truth("look_longest_so_far", STAYS,
          "one buffer, as large as the longest sequence so far",
          shapes=(*QUIET, "bounded_records"), quick=True),
    Truth("look_late_queue", STAYS,
          "a list that drops its first entry once it has half as many as there are steps: full "
          "after 70 % of them",
          shapes=QUIET, min_steps=100),
    Truth("look_slow_cache", STAYS,
          "at most 200 pictures of 64 KiB, drawn at random: nine in ten are known after 30 steps, "
          "all after 100",
          min_steps=100),
    Truth("look_vocabulary", STAYS,
          "at most 2,000 words of 2 KiB; new ones get rarer, and come until the end of all these "
          "runs",
          min_steps=300,
          why_steps="in 100 steps most words are new ones, as if it went on for ever"),
]

# Memory that fills within an epoch, an evaluation or a cycle, and is emptied.
EMPTIED = [
    Truth("look_collect_and_process", FILLS,
          "the list of errors is cleared each ten steps",
          shapes=SAW, quick=True),
    Truth("look_epoch_metric", FILLS,
          "the metric's lists are cleared at the end of each epoch of seven steps",
          shapes=SAW),
    Truth("look_evaluation", FILLS,
          "an evaluation of six batches each five steps lists its logits; they are locals",
          shapes=SAW, quick=True),
    Truth("look_two_evaluations", FILLS,
          "outputs of two evaluations: one each, `latest` for two steps, `best` until the next",
          shapes=SAW),
    Truth("look_cycles", FILLS,
          "each step's tree stays until gc has counted 700 new objects, some tens of which are this"
          " tree's; a tree that is in use when gc comes waits for an older generation's turn",
          shapes=SAW, min_steps=100),
    Truth("look_sweep", FILLS,
          "six trainings, each with a list of losses; model, moments and list go when `train` "
          "returns",
          shapes=SAW),
    Truth("look_caught_oom", FILLS,
          "a batch that does not fit is done in halves; nothing of the failed attempt is kept",
          shapes=SAW),
    Truth("look_kv_cache", FILLS,
          "keys and values grow with every token of one answer and are dropped with the request",
          shapes=SAW),
]

# Memory that comes and goes within the step.
STREAMS = [
    Truth("look_last_batch", STAYS, "the last batch of seven has 13 pictures instead of 32", shapes=SAW),
    Truth("look_micro_steps", STAYS,
          "gradients are added up over four small batches, in place",
          shapes=QUIET),
    Truth("look_micro_steps", STAYS,
          "gradients are added up over eight small batches, in place",
          shapes=QUIET, arguments=("--micro", "8")),
    Truth("look_gan", STAYS,
          "two models take turns; the samples looked at replace those before",
          shapes=QUIET),
    Truth("look_streaming", STAYS,
          "train_streaming: every batch is deleted; empty_cache gives nothing but "
          "driver calls",
          shapes=QUIET, habit="remove_empty_cache", quick=True),
    Truth("look_adapt_streaming", STAYS,
          "adapt_with_lora_streaming: every batch is deleted, over epochs; empty_cache in each",
          shapes=QUIET, habit="remove_empty_cache"),
    Truth("look_float_metrics", STAYS,
          "floats and a CPU tensor a step are kept; `best` is one number that is replaced",
          shapes=QUIET),
    Truth("look_mixed_precision", STAYS,
          "half-precision copies go with each step; the scaler's state is two numbers",
          shapes=QUIET),
    Truth("look_checkpointed", STAYS, "forward runs again in backward; all of it goes", shapes=QUIET),
    Truth("look_truncated_bptt", STAYS,
          "the state is detached: one pair of tensors, replaced each step",
          shapes=QUIET),
    Truth("look_server", STAYS,
          "no optimizer; requests of random numbers and lengths; nothing but counts stays",
          shapes=SAW),
    Truth("look_deep_model", STAYS,
          "two hundred call sites; x, loss and gradients are replaced",
          shapes=QUIET),
    Truth("look_workers", STAYS,
          "two workers, a pinned buffer that is used again; batches are replaced",
          shapes=QUIET),
    Truth("look_side_stream", STAYS,
          "two batches are on the GPU at a time, on a stream of their own",
          shapes=QUIET),
    Truth("look_trainer", STAYS,
          "predictions of an evaluation are moved to the CPU and its tensors dropped",
          shapes=SAW),
    Truth("look_random_batches", STAYS,
          "every batch has its own size; only the last one's tensors stay",
          shapes=(*SAW, "bounded_records")),
    Truth("look_profile", STAYS, "hooks keep shapes and Python numbers", shapes=QUIET),
    # Batches that get larger: the last one's scores are alive at the step's end and are replaced by
    # larger ones. What a step needs grows, and may one day be too much; nothing that was made in an
    # earlier step is kept, so that nothing accumulates.
    Truth("look_curriculum", STAYS,
          "sequences get longer from step to step; only those of the last step are alive"),
    Truth("look_sorted_lengths", STAYS,
          "sentences sorted by length: each step needs more than the one before; one step's scores "
          "are alive"),
]

# Written to be taken for leaks: jumps at regular times, records, threads, work that gets larger.
HARD = [
    Truth("look_prefetch_thread", STAYS,
          "a queue of eight batches between two threads, full after the first steps",
          shapes=(*SAW, "bounded_records")),
    Truth("look_generate", STAYS,
          "the cache of an answer goes with it; answers are kept as Python numbers",
          shapes=SAW),
    Truth("look_progressive", STAYS,
          "six layers are added, one each seventh of the run, with their gradients and moments: the "
          "model grows as written, and has its last size after six sevenths"),
    Truth("look_growing_batch", STAYS,
          "the batch is doubled three times; one batch and its outputs are alive at a time"),
    Truth("look_long_evaluation", FILLS,
          "forty predictions of 100 KiB are listed in each of two evaluations; the list is a local",
          subject=("device", "phase:evaluation"), min_steps=100),
    Truth("look_top_checkpoints", STAYS,
          "at most three copies of the weights; one that is better takes the place of the worst",
          shapes=(*SAW, "bounded_records")),
    Truth("look_thread_pool", STAYS,
          "four threads with a stream and a workspace each; answers are moved to the CPU",
          shapes=(*SAW, "bounded_records")),
    Truth("look_two_stages", STAYS,
          "a second model, its moments and 2,048 features appear half-way, once; the first "
          "optimizer's moments go",
          shapes=QUIET),
]

LOOK_ALIKES = [*WARM_UP, *BOUNDED, *EMPTIED, *STREAMS, *HARD]

LARGER_LEAKS = [
    Truth("leak_trainer_callback", GROWS,
          "a callback lists the last hidden states (16 × 96 × 96 floats) of every training step; "
          "they are made in Trainer, which `trainer.train()` calls",
          shapes=("accumulating",), kept_by=r"\bstates\b", remedy=r"(?i)cpu|clear|list",
          bytes_per_step=16 * 96 * 96 * 4),
    Truth("leak_request_cache", GROWS,
          "a dict of encodings (64 to 127 × 128 floats) of every document ever asked for; two new "
          "ones are published a request, and all but one in twenty of them are asked for",
          # No rate: the program does not say whether a step is a request or the reading of a document.
          shapes=("accumulating",), kept_by=r"\bencoded\b",
          remedy=r"(?i)bound|lru|maxsize|limit", quick=True),
    Truth("leak_gan_samples", GROWS,
          "16 of 64 pictures are kept a step, as a view of all 64 of them (28 × 28 floats)",
          shapes=("accumulating",), kept_by=r"\bframes\b", remedy=r"(?i)clone|cpu|clear|view",
          bytes_per_step=64 * 28 * 28 * 4),
    Truth("leak_replay_buffer", GROWS,
          "a list of transitions without bound; each of four frames a step (4 × 42 × 42 floats, "
          "28,672 bytes as blocks) is kept, by two transitions",
          shapes=("accumulating",), kept_by=r"\bmemory\b",
          remedy=r"(?i)bound|maxlen|deque|cpu|clear", bytes_per_step=4 * 28_672),
    # One tensor that is made larger in each step, and with it what the step computes: what tells
    # them from sequences that get longer is that the batch stays as large as it was.
    Truth("leak_memory_bank", GROWS,
          "the features of 128 pictures a step join one tensor, and every batch is compared with all",
          shapes=("accumulating",), kept_by=r"\bbank\b", bytes_per_step=128 * 64 * 4),
    Truth("leak_chat", GROWS,
          "a conversation's words are appended to one tensor and all are read again at each turn: 16 "
          "to 32 words of 8 bytes and an answer; what it computes with them grows alike",
          kept_by=r"\bhistory\b", min_steps=100,
          known_wrong="warmup_plateau: taken for work that gets larger, as a longer batch is"),
]
