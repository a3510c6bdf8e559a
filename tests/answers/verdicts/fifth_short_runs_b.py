# SPDX-License-Identifier: Apache-2.0
"""The other half of the truth of a fifth set: programs/fifth_*.py that look as if they accumulated, and do not.

Their bounds are a constant, an argument, an attribute, a schedule, a collection that ends, the number of clients or
classes, or that what was collected is used and dropped. Some are reached within the run, some would be a few steps
later: runs are short. Written as, and together with, fifth_short_runs_a.py.
"""

from truth import FILLS, STAYS, Truth


def fills(program: str, steps: int, why: str) -> Truth:
    return Truth(f"fifth_{program}", FILLS, why, steps=(steps,), min_steps=steps)


def stays(program: str, steps: int, why: str) -> Truth:
    return Truth(f"fifth_{program}", STAYS, why, steps=(steps,), min_steps=steps)


DO_NOT = [
    stays("sorted_lengths", 12, "sentences become longer within an epoch of 20 batches, up to the longest of 34 words"),
    stays("batch_ramp", 13, "batches become larger by four until there are 96, in step 22"),
    stays("class_exemplars", 14, "16 exemplars are kept of each of ten classes, one class more every second step"),
    stays("calibration_batches", 14, "observers take what 18 batches put out, and no more"),
    stays("instance_bank", 15, "a feature for each of 160 pictures, all of them after an epoch of 20 batches"),
    stays("linear_probe", 15, "features are collected until the loader of 18 batches ends"),
    stays("past_selves", 16, "six copies of the model at most; the oldest is dropped"),
    stays("growing_resolution", 17, "the pictures' size doubles every fifth step, from 8 to 64"),
    stays("prefix_tree", 17, "a tree of three levels with three children each: 39 nodes when all 27 prompts have come"),
    stays("dqn_replay", 18, "the replay memory is a deque of 30 transitions"),
    stays("gradual_unfreezing", 19, "one layer more learns every fourth step, until all six do"),
    stays("last_checkpoints", 20, "a deque of nine checkpoints, one more every third step"),
    stays("item_lru", 20, "the least recently used is dropped when there are more than 48 answers"),
    stays("sound_context", 21, "the encoder keeps the last 24 chunks"),
    stays("late_teacher", 22, "the teacher is made once, in step 10"),
    stays("tenant_adapters", 24, "an adapter for each of ten tenants, loaded at its first request"),
    stays("control_variates", 25, "a control variate for each of 20 clients, all of which have had a turn after 20 rounds"),
    stays("negatives_queue", 26, "the queue grows to 1920 keys, 64 a batch, and is cut there"),
    stays("secant_pairs", 28, "the optimizer has 32 pairs of differences at most for each parameter"),
    stays("prefetch_depth", 29, "two batches are fetched for each one taken, until the queue has 32"),
    stays("cluster_embeddings", 30, "an embedding for each of 22 clusters, all of which come in an epoch"),
    stays("population", 33, "a population of 24 members, one made in each of the first 24 steps"),
    stays("longer_horizons", 34, "the horizon grows by one every third step, up to 18"),
    stays("stacked_layers", 35, "a layer more every seventh step, until there are eight"),
    stays("labelled_pool", 36, "the pool of 480 pictures is labelled in parts of 32, until none is left"),
    stays("scale_positions", 42, "a table for each of 16 shapes of the grid"),
    stays("rolling_normalizer", 44, "a deque of 70 windows"),
    stays("task_quotas", 45, "seven batches at most of each of five tasks"),
    stays("doubling_table", 46, "the table doubles until it has room for the catalogue's 600 articles"),
    stays("memory_slots", 47, "56 slots; the oldest is overwritten when all are in use"),
    stays("consolidated_tasks", 48, "weights and importance of the first five of six tasks"),
    stays("document_index", 49, "the index is built from 62 chunks of documents, then asked"),
    stays("reservoir", 50, "a reservoir of 64 batches"),
    stays("validation_batches", 51, "29 validation batches stay on the device once they have been used"),
    stays("image_pool", 52, "a pool of 50 fakes, which are replaced when it is full"),
    stays("wider_network", 53, "the hidden layer becomes wider by 32 every eighth step, up to 288"),
    stays("session_expiry", 54, "conversations are dropped after 30 messages of others: about 13 are open at a time"),
    stays("densified_splats", 55, "splats are split every fifth step, until step 60"),
    stays("prioritized_ring", 56, "the list is overwritten from its beginning when it has 80 transitions"),
    stays("slot_decoding", 58, "six slots; a request gives its keys and values up after 24 tokens"),
    stays("snapshot_ensemble", 60, "ten cycles of eight steps, each of which leaves a snapshot"),

    fills("micro_batches", 12, "graphs of eight parts are kept until the loss over all of them"),
    fills("epoch_outputs", 16, "an epoch's scores and labels (nine batches) are cleared at its end"),
    fills("rollout_segments", 18, "a segment of seven moves is collected, used and cleared"),
    fills("token_by_token", 20, "keys and values of a request of 16 tokens are dropped when the next begins"),
    fills("evaluation_batches", 24, "an evaluation's answers to eight batches are scored together and dropped"),
    fills("denoising_path", 27, "a job's path of 12 denoising steps goes with the job"),
    fills("truncated_backprop", 32, "the graph of nine batches, after which the hidden state is detached"),
    fills("epoch_metric", 38, "the metric has an epoch's 14 batches and is reset at its end"),
    fills("spectrogram_writer", 40, "what is pending is written and dropped every sixteenth step"),
    fills("request_batcher", 41, "requests wait until there are twelve, which are answered together"),
    fills("caption_beams", 43, "the states of a caption's fifteen words are dropped when the next begins"),
]

FIFTH_SHORT_RUNS_B = DO_NOT
