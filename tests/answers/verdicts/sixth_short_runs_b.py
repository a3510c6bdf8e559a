# SPDX-License-Identifier: Apache-2.0
"""The other half of the truths of a sixth set of short runs: programs/sixth_*.py.

Written from reading the programs, and held against what PyTorch's own allocator says of them, before memtrace gave a
verdict on any, by someone who had read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory: str):
    def truth(program: str, steps: int, why: str, **more) -> Truth:
        return Truth(f"sixth_{program}", memory, why, steps=(steps,), min_steps=steps, **more)
    return truth


grows, fills, stays = of(GROWS), of(FILLS), of(STAYS)

# Bytes as blocks: each tensor rounded up to 512.
ACCUMULATE = [
    grows("prefix_cache", 13,
          "every prompt ends in a question of its own, so that none is found again; keys and values of 48 × 128 floats "
          "in each of two layers stay, with the logits of 1000 words",
          kept_by=r"\bprefixes\b", bytes_per_step=2 * 2 * 48 * 128 * 4 + 4096),
    grows("ppo_stats", 16,
          "the statistics of every batch keep the reference's log-probabilities (8 × 32 tokens × 500 words), of which "
          "the summary reads none",
          kept_by=r"\bstats\b|\bref_logprobs\b", bytes_per_step=8 * 32 * 500 * 4),
    grows("speculative_draft", 19,
          "what is finished leaves the target's cache, not the draft's: keys and values of 48 + 16 tokens × 128 floats "
          "a request",
          kept_by=r"\bdraft_past\b", bytes_per_step=2 * 64 * 128 * 4),
    grows("moco_queue", 24,
          "the queue gets 256 keys (128 floats) a step and is never cut; the last 1024 are read",
          kept_by=r"\bqueue\b"),
    grows("grpo_entropy", 28,
          "the running mean of the entropy has a graph, to which each step adds its own: the log-probabilities and their "
          "exponentials (8 × 32 × 800 floats)",
          kept_by=r"\bentropy\b", bytes_per_step=2 * 8 * 32 * 800 * 4),
    grows("staged_batches", 36,
          "the prefetcher moves its position along a list, from which no batch is taken: 256 × 48 floats, 256 × 8 "
          "numbers, 256 labels",
          kept_by=r"\bstaged\b", bytes_per_step=256 * 48 * 4 + 256 * 8 * 8 + 1024),
    grows("gradient_cosine", 44,
          "the callback's list has every step's gradient (27850 floats); the last two are read",
          kept_by=r"\bgradients\b", bytes_per_step=-(-27850 * 4 // 512) * 512),
    grows("relora_groups", 48,
          "every third step the optimizer gets a group of new factors, and keeps the old ones with both their moments: "
          "32 × 128 + 256 × 32 + 32 × 256 + 128 × 32 floats, three times",
          kept_by=r"\bparam_groups\b|\boptimizer\b|\bparams\b",
          bytes_per_step=3 * (32 * 128 + 256 * 32 + 32 * 256 + 128 * 32) * 4 / 3),
    grows("agent_inbox", 57,
          "no agent's inbox is emptied: three messages (256 games × 64 floats) a step, each held by two of them; the last "
          "four are read",
          kept_by=r"\binbox\b", bytes_per_step=3 * 256 * 64 * 4),
]

LOOK_ALIKES = [
    fills("contrastive_window", 13, "the graphs of five pairs of batches, until their loss"),
    stays("dqn_memory", 14, "the memory has at most 20 transitions of 32 games"),
    stays("length_warmup", 15, "sequences become longer for 20 steps, up to the context of 256"),
    fills("index_refresh", 16, "twelve chunks are encoded, become the index in place of the one before, and begin anew"),
    stays("stacked_layers", 18, "the model gets a layer every fourth step until it has eight: in the 25th step"),
    fills("batch_generation", 20, "keys and values grow for 32 tokens, then the next prompts begin without any"),
    stays("teacher_logits", 22, "the teacher's answers for each of the data set's 28 batches"),
    fills("ppo_rollout", 26, "sixteen steps are collected, learned from and dropped"),
    stays("cross_batch", 28, "a deque of 24 batches, from the sixth step on: full after 29 steps"),
    stays("tenant_adapters", 30, "one adapter for each of twelve tenants, when first asked for"),
    stays("lru_contexts", 34, "at most 24 encoded documents, the one asked about longest ago goes"),
    fills("ranking_metrics", 40, "scores of an epoch of 25 batches, until the metrics are computed"),
    stays("limited_memory", 42, "at most 50 pairs of vectors, then the oldest goes"),
    stays("averaged_weights", 50, "the last six copies of the weights, one every fifth step from the tenth on"),
    stays("market_tables", 52,
          "a sum of squares for each of sixty markets' tables, when first visited; each is within 60 steps"),
    stays("paged_blocks", 54,
          "at most 16 blocks, made when needed and used again; without a free one, a request gives up its own"),
    fills("team_episodes", 56, "the observations of an episode of 50 steps, which then go to host memory"),
    stays("rehearsal_reservoir", 60, "at most 80 batches, then some are replaced"),
]

SIXTH_SHORT_RUNS_B = ACCUMULATE + LOOK_ALIKES
