# SPDX-License-Identifier: Apache-2.0
"""The truth of half B of a third set of programs that end after 12 to 60 steps: programs/third_b_*.py.

Written, as the second set was (second_short_runs.py), from reading the programs and from what PyTorch's allocator says
of them, before memtrace gave a verdict on any of them, by someone who had read neither the analyzer nor how it decides.
Most of them do not accumulate, though they look as if they did: what is asked here is how often memtrace cries wolf.
A few ordinary leaks are among them, which whoever calls everything harmless would miss.

As in short_runs.py each has one length, and of one that does not accumulate any shape that is not a leak's is right.
The comment `# step` is at the end of a line that runs once in each step.
"""

from short_runs import COLLECTED
from truth import FILLS, GROWS, STAYS, Truth


def grows(program: str, steps: int, why: str, **more) -> Truth:
    return Truth(f"third_b_{program}", GROWS, why, steps=(steps,), min_steps=steps, **more)


def fills(program: str, steps: int, why: str) -> Truth:
    return Truth(f"third_b_{program}", FILLS, why, steps=(steps,), min_steps=steps)


def stays(program: str, steps: int, why: str) -> Truth:
    return Truth(f"third_b_{program}", STAYS, why, steps=(steps,), min_steps=steps)


# Bytes as blocks: each tensor rounded up to 512.
ACCUMULATE_B = [
    grows("step_scores", 14,
          "logits (16 × 500 floats) of all eight words of all answers join a list",
          kept_by=r"\ball_scores\b|\bscores\b", phase="evaluation", category=COLLECTED, bytes_per_step=8 * 32256),
    grows("forgotten_hook", 22,
          "a forward hook lists a layer's features (32 × 24 × 100 floats), and is never removed",
          kept_by=r"\bnoted\b", phase="forward", category=COLLECTED, bytes_per_step=32 * 24 * 100 * 4),
    grows("shopper_states", 30,
          "a dictionary has a state (256 floats) of each shopper, of which eight a step are new and none goes",
          kept_by=r"\bstates\b", phase="forward", category=COLLECTED, bytes_per_step=8 * 256 * 4),
    grows("dev_losses", 38,
          "losses of tests without no_grad() are listed with their graphs, which saved rows (256 × 60 floats), two "
          "layers' activations (256 × 120) and the forecasts (256 × 12)",
          kept_by=r"\bdev_losses\b", phase="forward", category="activations",
          bytes_per_step=256 * (60 + 2 * 120 + 12) * 4 + 512),
    grows("client_updates", 46,
          "a list of rounds has the weights (40 × 112, 112, 112 × 8 and 8 floats) of both clients of each round",
          kept_by=r"\bupdates\b|\brounds\b", bytes_per_step=2 * (40 * 112 * 4 + 512 + 112 * 8 * 4 + 512)),
    grows("tickets", 57,
          "a thread puts its answers (40 × 350 floats) into a dictionary, and who asked does not take them out",
          kept_by=r"\banswers\b", category=COLLECTED, bytes_per_step=56320),
]

# It fills, during part of the run or all of it, towards a bound that the program shows.
BOUNDED_B = [
    stays("packed_rows", 12,
          "features of documents wait in at most eight rows of 512 words; with a ninth the fullest goes"),
    stays("cache_buckets", 13,
          "a cache of full length for each of five batch sizes, powers of two up to 16: the last in the tenth step"),
    stays("child_tasks", 15,
          "in a process of its own: the last answers to each of twelve tasks; the run meets eight of them"),
    stays("system_prompts", 17, "keys and values of eleven prompts with names, each made when it is first asked for"),
    stays("merged_adapters", 19, "merged weights by the name of one of eight tasks: full after fifteen steps"),
    stays("paged_pool", 20,
          "pages go back to a pool, and come from it again; new ones only while more are in use than ever before, by "
          "at most eight requests"),
    stays("client_states", 24, "control variates and moments of sixteen clients, made when each comes; 15 do"),
    stays("visitors_expire", 32,
          "six new states a step, which are forgotten twenty steps after they were last used: as many go as come from "
          "then on"),
    stays("left_context", 33, "two deques of at most 22 chunks' features: full after two thirds of the run"),
    stays("teacher_budget", 36,
          "a teacher's features stay on the GPU up to a budget of 3 MiB, 24 of the first epoch's 26 batches; "
          "the others are on the host"),
    stays("average_ring", 42, "seven slots for a copy of the averaged weights every four steps: full after 28 steps"),
    stays("deeper_student", 50,
          "a model that grows as written: a block every eight steps up to five, the last after 32 steps"),
    stays("bought_labels", 51,
          "24 labelled pictures every three steps until the money is spent, after 33 steps"),
    stays("queues_by_kind", 52,
          "a deque(maxlen=12) of features for each of nine kinds; the rarest comes in a fifth of the steps"),
]

# It comes with a window of work, and goes with it.
EMPTIED_B = [
    fills("beams", 16,
          "keys and values of four beams get longer by a word a step, up to 24; the run ends in the first answer"),
    fills("draft_and_verify", 18,
          "the words of a draft that are accepted stay in both models' caches until an answer has 48 words"),
    fills("sampled_blocks", 28,
          "sampled neighbours of an epoch's ten batches serve in the next epoch too, and are dropped at its end; the "
          "run ends while they come again"),
    fills("nine_moments", 40,
          "truncated backpropagation: the graph of nine moments is worked through, and goes; it ends in the fifth"),
    fills("film_strips", 44, "fifteen pictures' guesses are put together and cleared; the run ends in the third strip"),
    fills("larger_rounds", 47,
          "what clients changed goes at the end of a round, of four, six, eight … at most twelve of them"),
    fills("hooks_for_a_while", 54, "hooks note seven steps of every twelve, and are removed with what they noted"),
    fills("written_by_thread", 60,
          "embeddings of eleven steps wait in a queue, which a thread empties; the run ends with five there"),
]

# It comes once, or what a step needs gets larger, or varies, and goes with the step.
REPLACED_B = [
    stays("inner_loops", 20,
          "an inner loop of one step more after every three, up to five, in the twelfth step; its graph goes with the "
          "step"),
    stays("new_words", 26,
          "embedding and Adam's moments are replaced by larger ones in the eighteenth step, and never again"),
    stays("longer_clips", 35, "sounds get longer during 24 steps, then stay; only the step's own are alive"),
    stays("function_workspace", 56,
          "a workspace is replaced by a larger one while batches grow, during 37 steps; then they stay"),
]

DO_NOT_B = [*BOUNDED_B, *EMPTIED_B, *REPLACED_B]

THIRD_SHORT_RUNS_B = [*ACCUMULATE_B, *DO_NOT_B]

# Of the counted truths (see test_short_truths_counted.py): lengths are drawn, so that by this much more may be needed.
BY_CHANCE_B = {}
