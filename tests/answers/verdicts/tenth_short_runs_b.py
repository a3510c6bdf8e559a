# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a tenth set of short runs, of cases that people published: programs/tenth_*.py.

Found, written and held against PyTorch's own allocator as those of the ninth, by other searches, and by someone who had
read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, source, **more):
    return Truth(f"tenth_{program}", memory, why, steps=(steps,), min_steps=steps, source=source, **more)


TENTH_SHORT_RUNS_B = [
    of(GROWS, "sentence_scores", 48,
       "Each batch's likelihood is added to the sum as a tensor, so the sum has the graphs of all batches.",
       "https://github.com/pytorch/pytorch/issues/1840", kept_by=r"\bsum_log_likelihood\b",
       # Words and tags, vectors, hidden layer, seven sums of scores, seven of their logsumexp and the last one's.
       bytes_per_step=2 * 1024 + 16 * 8 * (64 + 96) * 4 + 7 * (16 * 12 * 12 * 4 + 1024) + 512),
    of(GROWS, "video_regions", 32,
       "The features of each frame stay in a list for the captioner, each with the graph of the detector.",
       "https://github.com/facebookresearch/detectron2/issues/1514", kept_by=r"\bfeature_list\b",
       # The frame, two outputs of convolutions, the pooled cells and the features.
       bytes_per_step=4 * (3 * 64 * 64 + 16 * 32 * 32 + 32 * 16 * 16 + 32 * 16 + 16 * 64)),
    of(GROWS, "streamed_reply", 36,
       "The state that is carried along has the graph of all chunks before it, for nothing turns gradients off.",
       "https://www.hotmolts.com/post/torchno_grad-saved-my-life-and-became-my-name-"
       "52e401a4-993b-4b7c-9a61-45f084c45803",
       kept_by=r"\bstate\b"),
    of(GROWS, "panel_figures", 18,
       "Each redrawing of a stack connects one more function to its figure, which closes over that stack.",
       "https://github.com/cdtools-developers/cdtools/pull/87", kept_by=r"\b(callbacks|figures|images)\b",
       # Four modes of the probe and eight patterns of 64 x 64.
       bytes_per_step=(4 + 8) * 64 * 64 * 4),
    of(GROWS, "plant_model", 20,
       "The second set's mean loss is kept each epoch, with the graphs of its three batches.",
       "https://github.com/pnnl/neuromancer/pull/292", kept_by=r"\bloss_history\b",
       # Of three batches eight steps' inputs and hidden layers and the difference; the two means.
       bytes_per_step=3 * (8 * 64 * (6 + 48) * 4 + 64 * 8 * 4 * 4) + 2 * 512),
    of(GROWS, "trial_predictions", 60,
       "Outputs and labels of all batches of a prediction stay on the GPU until the last: 2,048 bytes a batch.",
       "https://github.com/SPOClab-ca/dn3/issues/38", kept_by=r"\b(outputs|targets)\b",
       # 64 x 5 outputs of 4 bytes, in whole blocks, and 64 labels.
       bytes_per_step=1536 + 512),
    of(GROWS, "speech_chunks", 44,
       "The loss of each batch of the development set is added to a sum as a tensor with its graph.",
       "https://github.com/mravanelli/pytorch-kaldi/pull/41", kept_by=r"\bloss_sum\b",
       # Two hidden layers, the logarithms of 48 states, the labels and the weight of the loss.
       bytes_per_step=128 * (2 * 256 + 48) * 4 + 128 * 8 + 512),
    of(GROWS, "test_report", 50,
       "The report has the scores of all batches, each with the graph of six generated words.",
       "https://github.com/facebookresearch/pytext/pull/1016", kept_by=r"\ball_scores\b",
       # The batch, its mean and first state; of six words inputs, state, logarithms and the word; the scores.
       bytes_per_step=1536 + 2 * 4096 + 6 * (8192 + 4096 + 7680 + 512) + 512),
    of(GROWS, "team_rewards", 30,
       "The logger never clears its statistics, and the gradients' norm is a tensor on the GPU: 512 bytes a step.",
       "https://github.com/oxwhirl/pymarl/pull/73", kept_by=r"\bstats\b", bytes_per_step=512),
    of(GROWS, "trained_epochs", 16,
       "A copy of all weights is kept of each epoch for the test afterwards: 100,352 bytes.",
       "https://github.com/choderalab/pinot/issues/23", kept_by=r"\bstates?\b",
       # Weights of 64 x 128, 128 x 128 and 128, and three biases.
       bytes_per_step=32768 + 65536 + 512 + 3 * 512),
    of(STAYS, "prioritized_moves", 40,
       "The sum tree has 60 places; from the sixtieth move on each takes the place of the oldest.",
       "https://github.com/nanzhi84/EasyRL/blob/HEAD/.history/easyRL/algorithms/PER_20250122095507.py"),
    of(STAYS, "speech_stream", 14,
       "Each layer's cache is cut to the 70 frames before the chunk, which ten chunks of seven make up.",
       "https://github.com/m1el/nemotron-asr.cpp/blob/HEAD/docs/STREAMING.md"),
    of(STAYS, "sink_tokens", 32,
       "Keys and values are cut to four first and forty recent tokens; the prompt has six, so 38 steps fill them.",
       "https://github.com/mit-han-lab/streaming-llm/blob/HEAD/streaming_llm/kv_cache.py"),
    of(STAYS, "small_batches", 16,
       "Gradients are added up in place over eight batches and let go then; Adam's state comes once, at the eighth.",
       "https://github.com/kobongsoo/GPUTech/blob/HEAD/reference/gradient_accum_training_loop.py"),
    of(STAYS, "partial_batches", 18,
       "Gradients are added up in place over four batches and let go then; AdamW's state comes once.",
       "https://github.com/vjsingh1984/llm-from-scratch/blob/HEAD/advanced-code-model/experiments/optimizations/"
       "gradient-accumulation/README.md"),
    of(STAYS, "resolutions", 20,
       "A layer is added to both networks every eight steps, four times in all, the last at step 32.",
       "https://github.com/ndhuanhuan/ML_MODELS_REVIEW/blob/HEAD/GAN/PGGAN/readme.md"),
    of(STAYS, "previous_iterates", 24,
       "A window of eight iterates and their images; the oldest goes when a ninth comes.",
       "https://github.com/joshnguyen99/anderson_acceleration/blob/main/aa.py"),
    of(STAYS, "sampled_experiences", 50,
       "The sample has at most 300 images, and five are offered a step: it is full from step 60 on.",
       "https://github.com/yzy1997/continual_learning/blob/HEAD/replay_based/dataloading_buffers_replay.py"),
    of(FILLS, "transcribed_utterances", 45,
       "A decoder's output is kept of each label sequence of an utterance of 12 to 20 frames, and no longer.",
       "https://github.com/espnet/espnet/blob/HEAD/espnet2/asr/transducer/beam_search_transducer.py"),
    of(FILLS, "translated_sentences", 56,
       "Three layers' outputs of all tokens are kept until a sentence of 14 to 24 tokens ends, and no longer.",
       "https://github.com/Zenglinxiao/espnet/blob/HEAD/espnet/nets/pytorch_backend/transformer/decoder.py"),
]
