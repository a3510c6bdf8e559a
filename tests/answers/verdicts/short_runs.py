# SPDX-License-Identifier: Apache-2.0
"""The truth of programs that end after 12 to 60 steps: programs/short_*.py.

Written from reading the programs, and from the memory that PyTorch itself said was in use, before memtrace gave
a verdict on any of them, by someone who had read neither the analyzer nor how it decides. Half accumulate, half
look as if they did. Judged by

    python tests/answers/verdicts/make_results.py --short-runs short

Each has one length, which counts however short it is. Of one that does not accumulate, any shape that is not a
leak's is right, "unknown" too: what is asked is that nobody is told of a leak.
"""

from truth import FILLS, GROWS, STAYS, Truth

# What a program collects may get a category of its own; it is none of these in any case.
COLLECTED = r"^(?!gradients|weights|buffers|optimizer_states|inputs|workspace)"


def grows(program: str, steps: int, why: str, **more) -> Truth:
    return Truth(f"short_{program}", GROWS, why, steps=(steps,), min_steps=steps, **more)


def fills(program: str, steps: int, why: str) -> Truth:
    return Truth(f"short_{program}", FILLS, why, steps=(steps,), min_steps=steps)


def stays(program: str, steps: int, why: str) -> Truth:
    return Truth(f"short_{program}", STAYS, why, steps=(steps,), min_steps=steps)


ACCUMULATE = [
    grows("quantile_observer", 12,
          "each of two layers lists the magnitudes (64 × 256 and 64 × 64 floats) of every batch on the GPU, for a "
          "quantile that is taken on the CPU in the end",
          kept_by=r"\bseen\b", phase="evaluation", bytes_per_step=64 * (256 + 64) * 4),
    grows("deferred_metrics", 14,
          "a list of calls to be made later, each with the batch's logits (128 × 50 floats) and labels",
          kept_by=r"\bcalls\b", phase="forward", category=COLLECTED, bytes_per_step=128 * 50 * 4 + 128 * 8),
    grows("saliency_maps", 15,
          "the maps of each batch (16 × 24 × 12 × 12 floats) are listed with their gradients; the last are used",
          kept_by=r"\bmaps\b", bytes_per_step=2 * 16 * 24 * 12 * 12 * 4),
    grows("recording_wrapper", 16,
          "a wrapper lists each output (48 × 128 floats); forward and backward are on one line",
          kept_by=r"\boutputs\b", phase="forward", category=COLLECTED, bytes_per_step=48 * 128 * 4),
    grows("observed_range", 18,
          "the running range is a chain of graph nodes, each of which saved its step's activations (64 × 256 "
          "floats) and their maximum; no backward goes through it",
          kept_by=r"\btop\b", phase="forward", category="activations", bytes_per_step=64 * 256 * 4 + 512),
    grows("class_prototypes", 19,
          "32 copies of features (192 floats, 1,024 bytes as blocks) join lists by class, of which the last "
          "sixteen are used",
          kept_by=r"\bmembers\b", phase="forward", category=COLLECTED, bytes_per_step=32 * 1024),
    grows("prefix_trie", 20,
          "the states of eight new prefixes (768 floats) a sentence join a tree, which nothing ever leaves; the words "
          "that follow the first two hardly ever come again",
          # No rate: the program does not say whether a step is a sentence or a word.
          kept_by=r"\bfollowing\b", phase="evaluation"),
    grows("lazy_penalties", 23,
          "a closure a step, of which the last four are called each fourth step, keeps mixed rows (48 × 200 floats)",
          kept_by=r"\bwaiting\b", bytes_per_step=48 * 200 * 4),
    grows("lost_tracks", 26,
          "objects that left the picture keep views of the features (8 × 1,024 floats) of all their frames; how "
          "many frames there were is what is asked for",
          kept_by=r"\bfinished\b|\.features\b", phase="evaluation", category=COLLECTED, bytes_per_step=8 * 1024 * 4),
    grows("unrolled_rate", 28,
          "the weights of each step are made from those before, and keep the graph of all steps",
          kept_by=r"\bweights\b"),
    grows("curvature_pairs", 30,
          "two vectors of 4,353 floats (17,920 bytes as blocks) are listed each step; the last five pairs are used",
          kept_by=r"\bpairs\b", bytes_per_step=2 * 17_920),
    grows("gradient_noise", 32,
          "a hook lists the gradient of a hidden layer (96 × 200 floats); the last eight are used",
          kept_by=r"\bslopes\b", phase="backward", bytes_per_step=96 * 200 * 4),
    grows("reinforce_entropies", 34,
          "the entropies of six moves (1,024 floats each) stay in the agent, of which the last six are used",
          kept_by=r"\bentropies\b", phase="forward", category=COLLECTED, bytes_per_step=6 * 1024 * 4),
    grows("lora_deltas", 36,
          "two changes of weights (128 × 128 floats) are listed each step; two of each list are compared",
          kept_by=r"\bdeltas\b", bytes_per_step=2 * 128 * 128 * 4),
    grows("rewind_cache", 40,
          "all keys and values so far are listed before each word, which copies them; one entry is gone back to",
          kept_by=r"\bhistory\b", phase="evaluation"),
    grows("basket_states", 44,
          "states of visitors who have left stay in a dictionary; each is a view that keeps its batch's (32 × 192 "
          "floats)",
          kept_by=r"\bstates\b", phase="forward", category=COLLECTED, bytes_per_step=32 * 192 * 4),
    grows("dead_consumer", 45,
          "the thread that empties the queue ends in the fourth step; the outputs (64 × 96 floats) stay in it",
          kept_by=r"\bpending\b|\bqueue\b", phase="forward", category=COLLECTED, bytes_per_step=64 * 96 * 4),
    grows("tile_logits", 48,
          "the logits (12 × 64 × 64 floats) of each tile are collected on the GPU, where their largest on the CPU is "
          "all that is used of them",
          kept_by=r"\btiles\b", phase="evaluation", category=COLLECTED, bytes_per_step=12 * 64 * 64 * 4),
    grows("graph_embeddings", 50,
          "positions of all nodes (320 × 48 floats) are listed in each epoch; the first and the last are used",
          kept_by=r"\bpositions\b", phase="forward", category=COLLECTED, bytes_per_step=320 * 48 * 4),
    grows("failed_batches", 54,
          "an error a step is listed, whose traceback keeps the locals of the function that raised it: activations "
          "and the graph",
          # No rate: what the LSTM saves depends on its implementation.
          kept_by=r"\brefused\b", phase="forward", category="activations|workspace"),
    grows("epoch_leftovers", 58,
          "buckets are named by epoch and length: those that are not full at an epoch's end, about twenty states "
          "(3,072 floats) each eight steps, are never filled",
          # No rate: how many are left is chance.
          kept_by=r"\bwaiting\b", category=COLLECTED),
    grows("ranked_galleries", 60,
          "the gallery (384 × 96 floats) of each evaluation, every five steps, stays in a dictionary; the first and "
          "the last are used",
          kept_by=r"\bgalleries\b", category=COLLECTED, bytes_per_step=384 * 96 * 4 / 5),
    grows("fresh_heads", 60,
          "a new head (256 × 40 floats and a bias) every three steps; the optimizer keeps each former one, and two "
          "moments of it",
          kept_by=r"\boptimizer\b|\bparam_groups\b|\bstate\b", category="optimizer_states|weights",
          bytes_per_step=3 * (256 * 40 * 4 + 512) / 3),
]

# It fills, during most of the run or all of it, towards a bound that the program shows.
BOUNDED = [
    stays("anderson_mixing", 15,
          "ten points and moves, of which the first are popped; full after ten steps"),
    stays("boosted_learners", 16,
          "a model that grows as written: each round adds a learner, of at most as many as there are rounds, and all "
          "of them answer"),
    stays("labelling_budget", 18,
          "sixteen pictures a round join the labelled ones, up to a budget of 320, which the run does not reach"),
    stays("sliced_window", 18,
          "the list of features is cut to the last nine; full after nine steps"),
    stays("picture_pool", 20,
          "sixty pictures, four more a step: full after fifteen; then one comes for each that goes"),
    stays("temporal_ensemble", 25,
          "one mean for each of sixteen batches, made in the first epoch and replaced in the second"),
    stays("tables_by_turns", 28,
          "Adam's moments come when a table has its first gradient, and a table's gradient goes with the next step: "
          "fourteen tables, one every two steps, so that the last has them when the run ends"),
    stays("expiring_sessions", 32,
          "sixteen new callers a step, each dropped twelve steps after it last spoke: as many go as come from the "
          "fifteenth step on"),
    stays("replay_capacity", 38,
          "forty places, after which transitions are written over: the run ends just before"),
    stays("evicted_masks", 50,
          "twelve tables of distances by length; the oldest goes when another is made"),
    stays("byte_budget", 57,
          "at most 5 MiB of features; those unused for longest go; full after some forty steps"),
    stays("exemplar_reservoir", 56,
          "twenty places, full after twenty steps; then batches are replaced by chance"),
]

# It comes with a window of work, and goes with it.
EMPTIED = [
    fills("search_tree", 20,
          "forty states a move join a tree, of which the part under the chosen move stays"),
    fills("probe_by_class", 40,
          "hidden states of eight steps are gathered by class, then cleared"),
    fills("long_answer", 44,
          "keys and values of one answer, as long as the run; they are locals, and the longest answer is given"),
    stays("paged_requests", 46,
          "at most sixteen pages, made when first needed; a request that is answered gives its pages back"),
    fills("sample_statistics", 48,
          "features of ten batches in locals of an evaluation, every eight steps"),
    fills("policy_rollouts", 52,
          "a rollout of thirteen steps, dropped when it has been learned from"),
]

# It comes once, or what a step needs gets larger and goes with the step.
REPLACED = [
    stays("read_ahead", 14,
          "six batches wait in a queue, all made before the first step"),
    stays("preconditioners", 24,
          "momentum and factors come in the first step, roots in the sixth; they are replaced from then on"),
    stays("picture_sizes", 30,
          "pictures get larger from step to step; only those of the last step are alive"),
    stays("longer_rollouts", 42,
          "rollouts get two states longer every six steps; only those of the last step are alive"),
]

DO_NOT = [*BOUNDED, *EMPTIED, *REPLACED]

SHORT_RUNS = [*ACCUMULATE, *DO_NOT]
