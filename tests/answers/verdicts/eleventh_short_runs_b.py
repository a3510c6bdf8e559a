# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of an eleventh set of short runs, of cases that people published: programs/eleventh_*.py.

Found, written and held against PyTorch's own allocator as those of the ninth, by other searches, and by someone who had
read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, source, **more):
    return Truth(f"eleventh_{program}", memory, why, steps=(steps,), min_steps=steps, source=source, **more)


ELEVENTH_SHORT_RUNS_B = [
    # Two losses, and of 64 × 64 numbers each the points in between and their gradient.
    of(GROWS, "wasserstein", 18,
       "Both lists of losses keep the loss tensors of every step, 512 bytes each, and by the graph of the critic's the "
       "points in between, which are a leaf, with the gradient that backward() gave them, 16,384 bytes each.",
       source="https://github.com/pytorch/pytorch/issues/64586",
       kept_by=r"\b(critic|generator)_losses\b",
       bytes_per_step=2 * 512 + 2 * 4 * 64 * 64),
    of(GROWS, "structural_score", 40,
       "The metric notes each batch's predictions and targets, 4 × 3 × 64 × 64 numbers each, and is never reset.",
       source="https://github.com/Lightning-AI/torchmetrics/issues/1094",
       kept_by=r"\b(predictions|targets)\b",
       bytes_per_step=2 * 4 * 4 * 3 * 64 * 64),
    of(GROWS, "video_frames", 24,
       "The similarity that makes the loss also keeps slices of each prediction, 4 × 5 × 32 × 32 numbers, and of each "
       "clip, twice as many, from all epochs.",
       source="https://github.com/Lightning-AI/pytorch-lightning/issues/5733",
       kept_by=r"\by(_hat)?\b",
       bytes_per_step=4 * 4 * 5 * 32 * 32 + 4 * 4 * 10 * 32 * 32),
    # Of 4 × 3 × 32 × 32 numbers each: the translation and the real image, which the products save, the difference,
    # the product and the sum of squares; and two of 4 × 3 × 6 × 6 numbers, of which each is 1,728 bytes, for the ratio.
    of(GROWS, "signal_noise", 16,
       "The metrics' sums are of translations that have gradients, so that they keep the graphs of all batches: five "
       "tensors as large as a batch of images and two small ones each.",
       source="https://github.com/Lightning-AI/torchmetrics/issues/2597",
       kept_by=r"\b(sum_squared_error|similarity)\b",
       bytes_per_step=5 * 4 * 4 * 3 * 32 * 32 + 2 * 2048),
    of(GROWS, "word_sampler", 48,
       "Tokens are written without no_grad, so that the keys and values keep the graph of every token since the "
       "prompt, with each token's copy of all keys and values before it.",
       source="https://github.com/allenai/OLMo/pull/164",
       kept_by=r"\b(past_key_values|score|logits|present)\b"),
    # Each of 8 × 3 × 32 × 32 numbers: the copy of the images, its gradient, the sum before it is clipped, the result.
    of(GROWS, "sign_attack", 14,
       "The adversarial images are collected with their graphs: the copy of the images, its gradient and the sum "
       "before clipping stay with each result of 98,304 bytes.",
       source="https://github.com/BorealisAI/advertorch/pull/68",
       kept_by=r"\badversarials\b",
       bytes_per_step=4 * 4 * 8 * 3 * 32 * 32),
    # Each of 4 × 3 × 32 × 32 numbers: both arguments of clamp, both masks, and the distance to the images.
    of(GROWS, "sparse_attack", 60,
       "The nearest images and their distances are written in place with gradients, so that the graphs of all "
       "iterations stay: five tensors of 49,152 bytes in each.",
       source="https://github.com/BorealisAI/advertorch/pull/73",
       kept_by=r"\bfinal_(images|distances)\b",
       bytes_per_step=5 * 4 * 4 * 3 * 32 * 32),
    # Each of 3 × 96 × 96 numbers: the image before it is clipped, and after.
    of(GROWS, "poisoned_images", 44,
       "The backward step mixes in the image before with its graph, so that the images of all iterations are in it: "
       "two of 110,592 bytes in each; the objectives are the last six.",
       source="https://github.com/LostOxygen/poison_froggo/issues/1",
       kept_by=r"\b(old_image|new_image|last_objectives)\b",
       bytes_per_step=2 * 4 * 3 * 96 * 96),
    of(GROWS, "sentence_vectors", 32,
       "Sentences are encoded without no_grad, and the list of their vectors keeps each batch's graph.",
       source="https://github.com/huggingface/sentence-transformers/pull/296",
       kept_by=r"\ball_embeddings\b"),
    # Rows of 128 × 24, two layers' activations of 128 × 64, squared gradients of 64 × 128 and of 1 × 128 numbers.
    of(GROWS, "variational_newton", 56,
       "The precision in the optimizer's state is an average of products with the layers' inputs, which are not "
       "detached, so that it keeps the graphs of all steps: 111,104 bytes each.",
       source="https://github.com/emtiyaz/vadam/pull/2",
       kept_by=r"\bprecision\b|\bstate\b",
       bytes_per_step=4 * 128 * 24 + 2 * 4 * 128 * 64 + 4 * 64 * 128 + 512),

    of(STAYS, "painted_pool", 36, "The pool has at most 50 images; with one a step it is full after 50 steps.",
       source="https://github.com/Xinning-Zhu/Jittor/blob/HEAD/util/image_pool.py"),
    of(STAYS, "unpaired_photos", 56, "Two stores have at most 50 images each; with one a step they are full after 50.",
       source="https://github.com/SadMemories/CycleGAN_pytorch/blob/HEAD/utils.py"),
    of(STAYS, "segment_memory", 12, "The memory is of the last 160 states of each layer, 16 more a step: ten steps.",
       source="https://github.com/A1ex-Chen/DL_project_log/blob/HEAD/dataset/CokeBert/CokeBert-1.0/code/"
              "DKPLM_RoBERTabase/code/transformers/modeling_xlnet_cache_mem.py"),
    of(STAYS, "rolling_keys", 44, "Keys and values are of the first 4 and the last 48 tokens: full after 52 tokens.",
       source="https://github.com/vivekkalyanarangan30/llm_from_scratch/blob/HEAD/part_4/model_utils/kv_cache.py"),
    of(STAYS, "prototype_stream", 52,
       "The buffer is made for 8 × 8 points at once; what a step makes of it grows until it is full after 64.",
       source="https://github.com/tyler-hayes/ExStream/blob/HEAD/ExStream.py"),
    of(STAYS, "quasi_newton", 15, "The histories are of at most 10 differences each, the oldest of which go.",
       source="https://github.com/SchattenGenie/diff-surrogate/blob/HEAD/local_train/lbfgs.py"),
    of(FILLS, "temporal_graph", 32,
       "Messages stay until their node has its next event, and all go at the beginning of an epoch of 16 batches.",
       source="https://github.com/twitter-research/tgn/blob/HEAD/modules/memory.py"),
    of(FILLS, "recommender", 20,
       "Embeddings of 1,536 nodes are made once for the five batches of an evaluation and dropped in training.",
       source="https://github.com/sisinflab/warprec/pull/22"),
    of(STAYS, "thawing", 28, "A layer more has gradients and averages every five steps until all five have after 25.",
       source="https://github.com/project-lighter/lighter/blob/HEAD/docs/how-to/freezers.md"),
    of(STAYS, "peptide_phases", 18,
       "Each of three phases of 8 steps trains more layers with an optimizer of its own; the third trains all.",
       source="https://github.com/cvele3/transfer_learning_peptide_and_small_molecule/blob/HEAD/models_architecture/"
              "method4_gradual_unfreezing.md"),
]
