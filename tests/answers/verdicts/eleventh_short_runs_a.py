# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of an eleventh set of short runs, of cases that people published: programs/eleventh_*.py.

Found, written and held against PyTorch's own allocator as those of the ninth, by other searches, and by someone who had
read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, source, **more):
    return Truth(f"eleventh_{program}", memory, why, steps=(steps,), min_steps=steps, source=source, **more)


GITHUB = "https://github.com"

ELEVENTH_SHORT_RUNS_A = [
    of(GROWS, "hidden_features", 36,
       "each batch's hidden states after five layers stay on the GPU in a list, for a training that comes after: 8 x "
       "24 x 96 floats a batch",
       f"{GITHUB}/huggingface/transformers/issues/24315", kept_by=r"\bhidden_states_list\b",
       bytes_per_step=8 * 24 * 96 * 4),
    of(GROWS, "enlarge_photos", 16,
       "validation without no_grad adds each image's mean square error to a sum, whose graph keeps the generator's "
       "activations of every image",
       f"{GITHUB}/leftthomas/SRGAN/issues/43", kept_by=r"\bresults\b",
       # The small image; nine tensors of 16 channels (the first, three in each of two blocks and the sum between them,
       # and the sum after them); the enlarged one; tanh's result and the difference.
       bytes_per_step=3 * 48 * 48 * 4 + 9 * 16 * 48 * 48 * 4 + 16 * 96 * 96 * 4 + 2 * 3 * 96 * 96 * 4),
    of(GROWS, "epoch_scorer", 52,
       "a callback collects the predictions of the validation batches, made without no_grad, and with each its graph: "
       "the points and the activations of two convolutions",
       f"{GITHUB}/skorch-dev/skorch/issues/218", kept_by=r"\by_preds_\b",
       # Points, labels; the activations of the convolutions; the maximum and its indices; the predictions.
       bytes_per_step=6144 + 512 + 65536 + 131072 + 1024 + 2048 + 512),
    of(GROWS, "frame_completion", 24,
       "what is collected are copies on the CPU, but made without no_grad: each copy's graph keeps the forward pass's "
       "activations on the GPU",
       "https://www.kouhan.cn/en/article/00034093", kept_by=r"\bright\b",
       # 60 x 60 floats take 14,848: the picture and the sigmoid's result; two activations of 8 channels.
       bytes_per_step=2 * 14848 + 2 * 8 * 60 * 60 * 4),
    of(GROWS, "field_volume", 58,
       "the intensities of all planes are added up with a graph to the grating's parameters: the fields of each plane "
       "and their magnitudes stay",
       f"{GITHUB}/kch3782/torcwa/issues/9", kept_by=r"\btotal\b",
       # The phases, three complex fields of 24 x 24, and their magnitudes, each 2,304 in 2,560.
       bytes_per_step=512 + 3 * 24 * 24 * 8 + 3 * 2560),
    of(GROWS, "batched_sentences", 13,
       "the embeddings of each batch of sentences go into a list with their graph, so that the encoder's activations "
       "of every batch stay",
       f"{GITHUB}/BM-K/Sentence-Embedding-Is-All-You-Need/issues/8", kept_by=r"\bembeddings\b",
       # Word numbers; words, query, key, value and the mixture; attention's weights; the embeddings.
       bytes_per_step=16 * 20 * 8 + 5 * 16 * 20 * 64 * 4 + 16 * 20 * 20 * 4 + 16 * 64 * 4),
    of(GROWS, "echoing_gru", 40,
       "each turn starts from the hidden state of the turn before, which was never detached: its graph goes back to "
       "the first turn",
       f"{GITHUB}/pytorch/pytorch/issues/1887", kept_by=r"\b(hidden|output|both)\b"),
    of(GROWS, "fur_features", 45,
       "the features of each picture go into the list X with their graph, which keeps the picture and the activations "
       "of the convolutions",
       f"{GITHUB}/yandexdataschool/Practical_DL/issues/43", kept_by=r"\bX\b",
       # The picture, 19,200 in 19,456; two activations, the first pool's output and the indices of both; the features.
       bytes_per_step=19456 + 102400 + 51200 + 25600 + 51200 + 25600 + 512),
    of(GROWS, "clipped_evaluation", 30,
       "the forward hooks save the inputs of three layers also under no_grad, since the model is still in training "
       "mode, and only a backward pass takes them off their lists",
       f"{GITHUB}/meta-pytorch/opacus/issues/176", kept_by=r"\bactivations\b",
       bytes_per_step=64 * 32 * 4 + 2 * 64 * 96 * 4),
    of(GROWS, "layer_probe", 19,
       "the hooks keep the outputs of four layers on the GPU for every batch, 8 x 24 x 64 floats each, to compare "
       "them at the end",
       f"{GITHUB}/EleutherAI/DeeperSpeed/pull/34", kept_by=r"\blayer_outputs\b",
       bytes_per_step=4 * 8 * 24 * 64 * 4),
    of(STAYS, "ball_chaser", 44,
       "the buffer's list takes 1,000 transitions, 16 a step, and is then written from its head again: full at step "
       "63",
       "https://docs.pytorch.org/rl/0.14/reference/generated/torchrl.data.PrioritizedReplayBuffer.html"),
    of(STAYS, "grid_flows", 38,
       "the buffer is cut to its last 1,000 trajectories, 16 come each step: full at step 63",
       f"{GITHUB}/GFNOrg/torchgfn/blob/HEAD/src/gfn/containers/replay_buffer.py"),
    of(STAYS, "follow_up", 15,
       "the deque of earlier estimates holds 20 batches of 64: full at step 20",
       f"{GITHUB}/Novartis/torchsurv/blob/HEAD/src/torchsurv/loss/momentum.py"),
    of(STAYS, "event_masks", 14,
       "the memory holds the features of the five previous frames: full at step 5",
       f"{GITHUB}/HebeiFast/EventLowLightVOS/issues/4"),
    of(STAYS, "chat_window", 55,
       "each layer's keys and values are cut to the first 4 tokens and the last 64: with a prompt of 8 that is at "
       "step 60",
       f"{GITHUB}/vivekkalyanarangan30/llm_from_scratch/blob/HEAD/part_4/model_utils/kv_cache.py"),
    of(STAYS, "flat_average", 33,
       "of the deviations, one an epoch from the fifteenth on, the last 20 stay: full at step 35",
       f"{GITHUB}/valle1306/uq_capstone/blob/HEAD/src/swag.py"),
    of(STAYS, "deviation_columns", 18,
       "each parameter's matrix gets a row an epoch from the second on, and loses its first with more than 20: full "
       "at step 23",
       f"{GITHUB}/wjmaddox/swa_gaussian/blob/HEAD/swag/posteriors/swag.py"),
    of(STAYS, "dialogue_context", 16,
       "the tables of angles are as long as the longest dialogue so far, which is cut to 960 tokens: after some 22 "
       "turns",
       f"{GITHUB}/vukrosic/kimi-k2-from-scratch/blob/HEAD/full_llm_course/03_rope/01_standard_rotary_embedding/"
       "02_set_cos_sin_cache/teaching.md"),
    of(STAYS, "answer_tokens", 26,
       "the angles are kept for the longest text so far, and every text ends at 48 tokens: the first after some 40 "
       "steps",
       f"{GITHUB}/openai/gpt-oss/pull/43"),
    of(FILLS, "class_neighbours", 48,
       "the features of an epoch's 18 batches are collected for the nearest neighbours, and dropped when those were "
       "looked up at its end",
       f"{GITHUB}/vturrisi/solo-learn/blob/HEAD/solo/utils/knn.py"),
]
