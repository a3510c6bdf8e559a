# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a ninth set of short runs, of cases that people published: programs/ninth_*.py.

Each case stands in a public place, which its truth names: a thread in which somebody reports growing GPU memory that
came out as a leak of the program, or a public repository's code that fills a buffer. The programs are written anew.
Which case is taken was not chosen by what it would be to judge: the searches' results in their order. Held against what
PyTorch's own allocator says of them, before memtrace gave a verdict on any, by someone who had read neither the
analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, source, **more):
    return Truth(f"ninth_{program}", memory, why, steps=(steps,), min_steps=steps, source=source, **more)


NINTH_SHORT_RUNS_A = [
    # Published as leaks.
    of(GROWS, "flow_surrogate", 30,
       "each batch's output stays in the epoch's list, and its two extra losses have graphs of their own, which no "
       "backward() frees: they hold the prediction and its target, 48 KiB each; and each mean of mse_loss() has a "
       "storage of the size of what it is the mean of, 48 KiB and together again 48 KiB",
       "https://github.com/pdearena/pdearena/pull/4",
       kept_by=r"\boutputs\b", bytes_per_step=(2 + 1 + 1 / 3 + 2 / 3) * 4 * 3 * 32 * 32 * 4),
    of(GROWS, "depth_epoch", 54,
       "each batch's output stays in the epoch's list: its loss and two metrics, 512 bytes each",
       "https://github.com/TRI-ML/packnet-sfm/issues/47",
       kept_by=r"\boutputs\b", bytes_per_step=3 * 512),
    of(GROWS, "fault_campaign", 16,
       "each experiment adds hooks to the same model whose handles are thrown away; each closure has a copy of a "
       "weight, 394 KiB for the three layers",
       "https://github.com/fffasttime/MRFI/pull/5",
       kept_by=r"hook|\bconfig\b|weight_copy", bytes_per_step=4 * (256 * 128 + 256 * 256 + 10 * 256)),
    of(GROWS, "memory_report", 24,
       "the reporter's dictionary of names has the tensors themselves as keys: of each step the rows, labels, scores, "
       "loss and the four gradients",
       "https://github.com/Stonesjtu/pytorch_memlab/issues/17",
       kept_by=r"\btensor_name\b",
       bytes_per_step=4 * 64 * 128 + 512 + 4 * 64 * 10 + 512 + (4 * 64 * 128 + 512 + 4 * 10 * 64 + 512)),
    of(GROWS, "deep_lift", 14,
       "the hooks leave what went in and out of each activation as attributes of its module, and removing the hooks "
       "does not remove them: 1.13 MiB for each model that was explained",
       "https://github.com/jmschrei/tangermeme/pull/84",
       kept_by=r"\binput\b|\boutput\b|\bmodels?\b", bytes_per_step=2 * 4 * 32 * (16 * 194 + 8 * 190)),
    of(GROWS, "attention_eval", 36,
       "the evaluation joins the predictions of all batches on the GPU, and the attentions of both layers are among "
       "them, 1 MiB each for a batch",
       "https://github.com/huggingface/transformers/issues/25487",
       kept_by=r"\bpreds_host\b", bytes_per_step=2 * 4 * 8 * 8 * 64 * 64),
    of(GROWS, "clip_evaluation", 50,
       "the meter's lists have the scores and labels of all batches of the validation on the GPU, 12.5 KiB and 512 "
       "bytes for each",
       "https://github.com/facebookresearch/SlowFast/issues/411",
       kept_by=r"\ball_preds\b|\ball_labels\b", bytes_per_step=4 * 8 * 400 + 512),
    of(GROWS, "long_sequence", 48,
       "the hidden state is handed on with its graph, which goes back to the first reading: 16 KiB of data and 32 KiB "
       "of state for each",
       "https://github.com/pytorch/pytorch/issues/2198",
       kept_by=r"\bhidden\b", bytes_per_step=4 * 16 * (256 + 512)),
    of(GROWS, "language_states", 18,
       "the state of the layers is handed on without no_grad() and with its graph, which goes back to the first piece",
       "https://github.com/huggingface/transformers/issues/26588",
       kept_by=r"\bstate\b"),
    of(GROWS, "host_scores", 45,
       "the scores on the CPU are joined with their graph, which holds each batch's rows and activations on the GPU: "
       "32 KiB and twice 128 KiB",
       "https://github.com/pytorch/pytorch/issues/13613",
       kept_by=r"\bpredicted\b", bytes_per_step=4 * 128 * (64 + 256 + 256)),
    # What public repositories do by design.
    of(STAYS, "distilled_frames", 44,
       "the buffer takes 8 frames a step and drops the oldest over 480: it is full at step 60",
       "https://nvidia.github.io/nvalchemi-toolkit/modules/training/generated/"
       "nvalchemi.training.distillation.ReplayBuffer.html"),
    of(STAYS, "image_translation", 16,
       "each of the two buffers of earlier images has 20 places, full at step 20",
       "https://github.com/eriklindernoren/PyTorch-GAN/blob/HEAD/implementations/cyclegan/utils.py"),
    of(FILLS, "chat_generation", 57,
       "keys and values are joined to the cache for 19 tokens; each prompt begins with a new cache",
       "https://github.com/huggingface/transformers/blob/HEAD/docs/source/en/kv_cache.md"),
    of(FILLS, "batch_prediction", 28,
       "the loop's list has the predictions of at most 7 batches, 32 KiB each, and is a new one with each test set",
       "https://github.com/Lightning-AI/pytorch-lightning/blob/HEAD/src/lightning/pytorch/loops/prediction_loop.py"),
    of(STAYS, "card_self_play", 36,
       "the pool of opponents is a deque of at most 5 copies of the weights: one at the start, one more every 10 "
       "games, full at game 40",
       "https://github.com/minhduc080204/tienlen-ai-train/blob/HEAD/train/train_loop.py"),
    of(FILLS, "cart_policy", 40,
       "the buffer has the states, actions and log probabilities of at most 10 moves and is cleared after each update",
       "https://github.com/WhimsicalWill/AccessibleRL/blob/HEAD/PPO/utils/ppo.py"),
    of(STAYS, "encoder_cache", 20,
       "the cache has at most 24 embeddings of 196 KiB; the least recently used go first",
       "https://github.com/ai-dynamo/dynamo/blob/HEAD/components/src/dynamo/common/memory/encoder_cache_manager.py"),
    of(STAYS, "lexicon_vectors", 52,
       "lru_cache() has the vectors of at most 600 words, 512 bytes each; so many different ones were drawn by about "
       "step 60",
       "https://github.com/flairNLP/flair/pull/1084"),
    of(STAYS, "language_rotary", 14,
       "each block has the cosines and sines of one length, at most 256 positions; another length replaces them",
       "https://github.com/Francesco215/Language_CA/blob/HEAD/test.py"),
    of(STAYS, "char_rope", 32,
       "the cosines and sines are built anew for longer sequences, which end at 144 positions, 36 KiB each, from step "
       "56 on",
       "https://github.com/CharlyJazz/CharlyGPT/blob/HEAD/arch/rope.py"),
]
