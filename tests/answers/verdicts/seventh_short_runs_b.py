# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a seventh set of short runs: programs/seventh_*.py.

Written from reading the programs, and held against what PyTorch's own allocator says of them, before memtrace gave a
verdict on any, by someone who had read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, **more):
    return Truth(f"seventh_{program}", memory, why, steps=(steps,), min_steps=steps, **more)


def held(tensors: dict[int, int]) -> int:
    """Bytes of so many tensors of so many bytes each, as the allocator rounds them."""
    return sum(count * -(-size // 512) * 512 for size, count in tensors.items())


SEVENTH_SHORT_RUNS_B = [
    # 12 to 20 steps.
    of(GROWS, "kl_controller", 16,
       "the controller's running average is a sum over the graphs of all divergences so far, as nothing detaches them",
       kept_by=r"\baverage\b",
       # Tokens 8 × 16 of int64; embedded rows and tanh of width 48; log-probabilities, their exp, a difference, of 64.
       bytes_per_step=held({8 * 16 * 8: 1, 8 * 16 * 48 * 4: 2, 8 * 16 * 64 * 4: 3})),
    of(GROWS, "update_ledger", 18,
       "the ledger's keys are (round, client), what removes them asks for client alone, so each round's 3 updates stay",
       kept_by=r"\bledger\b",
       # 24 × 40 + 40 + 40 × 8 + 8 = 1328 weights, of 3 clients.
       bytes_per_step=held({1328 * 4: 3})),
    of(GROWS, "passage_cache", 20,
       "order has a maxlen and drops its oldest itself, so its length never exceeds 6 and no vectors are ever deleted",
       kept_by=r"\bvectors\b", bytes_per_step=held({32 * 64 * 4: 1})),
    of(GROWS, "adaptation_curve", 14,
       "every step's gain is appended with the graphs of its two errors, and only the last five are ever printed",
       kept_by=r"\bcurve\b",
       # Inputs 20 × 4; two layers of 20 × 64; two differences of 20; adapted second weights of 64; the gain itself.
       bytes_per_step=held({20 * 4 * 4: 1, 20 * 64 * 4: 2, 20 * 4: 2, 64 * 4: 1, 4: 1})),
    of(STAYS, "length_curriculum", 12,
       "sequences grow by 12 a step up to 256, at step 20, and with them the one mask, at most 256 by 256"),
    of(STAYS, "client_controls", 20,
       "one list of control variates for each of 30 hospitals, all of which were visited after 30 steps"),
    of(FILLS, "rollout_batches", 16,
       "answers are gathered for a horizon of 10 steps, gone over, and cleared"),
    of(STAYS, "teacher_memo", 18,
       "answers are remembered by batch and view, 10 by 3, so 30 of 16 KiB from step 30 on"),
    # 21 to 40 steps.
    of(GROWS, "episode_store", 30,
       "trim() cuts a name of its own and returns it, and add() ignores that, so all episodes stay despite capacity=10",
       kept_by=r"\bepisodes\b",
       # 12 states of 16, 12 actions of int64, 12 rewards.
       bytes_per_step=held({12 * 16 * 4: 1, 12 * 8: 1, 12 * 4: 1})),
    of(GROWS, "visit_states", 24,
       "states are stored by user and number of the visit, which only goes up: a new key each visit, none removed",
       kept_by=r"\bstates\b",
       # Rows of the 16 visitors of a step share one tensor of 16 by 64.
       bytes_per_step=held({16 * 64 * 4: 1})),
    of(GROWS, "feature_taps", 36,
       "each step registers another forward hook on the teacher's second block and removes none; all collect for ever",
       kept_by=r"\bcollected\b|_forward_hooks",
       # All taps append the same output, 32 by 96, of a step.
       bytes_per_step=held({32 * 96 * 4: 1})),
    of(GROWS, "hit_meter", 40,
       "each evaluation appends the scores of its 3 batches, and its beginning resets their number but not the list",
       kept_by=r"\bscores\b", bytes_per_step=held({64 * 50 * 4: 3})),
    of(STAYS, "negative_heap", 24,
       "the heap holds at most 40 items' features; from step 40 on each that comes pushes one out"),
    of(FILLS, "click_auc", 32,
       "predictions and clicks are collected for an epoch of 20 batches, then the metric is reset"),
    of(STAYS, "sliding_chat", 40,
       "three caches of keys and values are cut to the last 64 words, 8 of which are fed before the first step"),
    of(STAYS, "self_play", 28,
       "every third step adds a former player until there are 15, at step 42; later ones take a member's place"),
    # 41 to 60 steps.
    of(GROWS, "oracle_requests", 60,
       "answered requests leave the waiting queue, but their samples are never removed from the dictionary by number",
       kept_by=r"\bsamples\b", bytes_per_step=held({6 * 128 * 4: 1})),
    of(GROWS, "decode_engine", 45,
       "finished requests move to `done` with their keys and values, and polling an answer does not take it out",
       kept_by=r"\bdone\b",
       # A request every third step, with keys and values of 10 + 6 tokens of width 64.
       bytes_per_step=held({16 * 64 * 4: 2}) / 3),
    of(GROWS, "episode_heads", 50,
       "each episode's classifier becomes another parameter group of the one optimizer, which keeps it and its moments",
       kept_by=r"\bparam_groups\b|\boptimizer\b",
       # Weights 5 × 48 and biases 5, each with two moments; Adam's step counts are on the host.
       bytes_per_step=held({5 * 48 * 4: 3, 5 * 4: 3})),
    of(GROWS, "bank_keys", 56,
       "the bank is cut to 256 along its second dimension, the width of 64, not along its rows, so all 16 keys stay",
       kept_by=r"\bkeys\b", bytes_per_step=held({16 * 64 * 4: 1})),
    of(STAYS, "label_budget", 60,
       "4 labelled samples a step are added until the budget of 400 is spent, at step 100"),
    of(STAYS, "ring_replay", 48,
       "the replay memory has 80 places, and from step 80 on each transition takes the place of the oldest"),
    of(STAYS, "idle_sessions", 50,
       "a caller a step, each dropped when idle for more than 64 steps, so at most 65 states"),
    of(FILLS, "whole_games", 54,
       "log-probabilities and baselines are kept with their graphs for a game of 35 moves, and deleted at its end"),
]
