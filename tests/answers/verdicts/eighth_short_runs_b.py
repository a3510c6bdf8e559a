# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of an eighth set of short runs: programs/eighth_*.py.

Written from reading the programs, and held against what PyTorch's own allocator says of them, before memtrace gave a
verdict on any, by someone who had read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth



def of(memory, program, steps, why, **more):
    return Truth(f"eighth_{program}", memory, why, steps=(steps,), min_steps=steps, **more)


EIGHTH_SHORT_RUNS_B = [
    # Of 12 to 20 steps
    of(GROWS, "kl_penalty", 20,
       "The running total of the divergence is never detached, so that each update's probabilities and log ratios, "
       "which the product has saved, stay with it; the loss goes backward another way and does not free them.",
       kept_by=r"\btotal_kl\b", bytes_per_step=2 * 8 * 16 * 64 * 4),
    of(GROWS, "neighbour_bank", 18,
       "The bank of 256 embeddings is cut along its 128 columns instead of its rows, which cuts nothing, and the "
       "labels are cut to as many as there are embeddings: 32 of both stay of each batch.",
       # 8-byte labels make 256 bytes, half a block.
       kept_by=r"\bbank\b|\bfeatures\b|\blabels\b", bytes_per_step=32 * 128 * 4 + 32 * 8),
    of(GROWS, "warm_starts", 14,
       "Adapted weights older than 5 meta steps are to be forgotten, but birth minus now is never above 0 and so "
       "always below the horizon: the weights of 3 tasks stay of each step.",
       kept_by=r"\brecent\b|\bweights\b",
       bytes_per_step=3 * (16 * 128 * 4 + 128 * 4 + 128 * 16 * 4 + 512)),  # 16 biases take 512 bytes
    of(STAYS, "open_shelves", 14,
       "A shelf of 160 sentences is opened at each step, but there are only 22 lengths, the last at step 22."),
    of(STAYS, "task_columns", 18,
       "Each task adds a column until there are 26 as written; later tasks go on with the columns there are."),

    # Of 21 to 40 steps
    of(GROWS, "agreement", 24,
       "reset() empties what was declared as a state; the list of gaps was not, so that 3 batches of them stay of "
       "each evaluation.",
       kept_by=r"\bgaps\b", bytes_per_step=3 * 64 * 100 * 4),
    of(GROWS, "layer_statistics", 36,
       "The second attach() of a step overwrites the handles of the first, whose hooks are never removed: 2 of them "
       "stay of each step, each with the 128 x 128 moments that it noted last.",
       kept_by=r"_forward_hooks|\bhooks?\b|\bnote\b|\bmoments\b", bytes_per_step=2 * 128 * 128 * 4),
    of(STAYS, "personal_heads", 32,
       "The server keeps a head and its optimizer for each client, 2 new ones a round, but there are only 90 clients, "
       "all of which have had their turn after 45 rounds."),
    of(FILLS, "answer_sheets", 38,
       "The scores of a suite are gathered over its 26 batches, graded, and dropped with their sheet."),
    of(STAYS, "labelled_rows", 28,
       "A group of rows is labelled at each step as long as one of the 44 groups is left."),

    # Of 41 to 60 steps
    of(GROWS, "decode_pages", 48,
       "Blocks are given back under their requests' tokens (21 to 56) and looked for under their pages (2 to 4), so "
       "that none is ever used again and each served request leaves one behind.",
       kept_by=r"\bspare\b"),
    of(GROWS, "rate_search", 56,
       "A trial that is no longer among the 4 that train on stays among the tried ones, with its weights, gradients "
       "and AdamW's two moments; a setting is drawn anew for each.",
       # 8 biases take 512 bytes, and so do 96.
       kept_by=r"\btried\b", bytes_per_step=4 * (32 * 96 * 4 + 512 + 96 * 8 * 4 + 512)),
    of(GROWS, "passage_vectors", 60,
       "The vectors of a shard are kept under the tensor of its tokens, which is another one each time, so that the "
       "12 shards are encoded again and again and both tensors stay.",
       kept_by=r"\bvectors\b", bytes_per_step=64 * 24 * 8 + 64 * 128 * 4),
    of(STAYS, "query_generations", 46,
       "Sessions never return, but the old part is dropped whenever the young one has 30: there are 60 at most, "
       "first at step 60."),
    of(STAYS, "confusion_film", 58,
       "The film has 64 frames at most, after 64 steps; then every second is dropped and half as many come in."),
    of(FILLS, "episode_returns", 52,
       "The graphs and rewards of an episode's 40 moves are kept until its update, which goes backward and empties "
       "both lists."),
]
