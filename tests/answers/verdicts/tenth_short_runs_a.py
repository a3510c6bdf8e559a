# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a tenth set of short runs, of cases that people published: programs/tenth_*.py.

Found, written and held against PyTorch's own allocator as those of the ninth, by other searches, and by someone who had
read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, source, **more):
    return Truth(f"tenth_{program}", memory, why, steps=(steps,), min_steps=steps, source=source, **more)


GITHUB = "https://github.com"

TENTH_SHORT_RUNS_A = [
    of(GROWS, "atom_forces", 24,
       "The list of outputs keeps each structure's positions, edges, features, energies and forces on the GPU.",
       f"{GITHUB}/MDIL-SNU/SevenNet/issues/187", kept_by=r"\boutputs\b",
       # Positions and forces of 64 atoms; their kinds; 512 edges; vectors; features; energies of atoms and in all.
       bytes_per_step=2 * 1024 + 512 + 8192 + 6144 + 64 * 32 * 4 + 2 * 512),
    of(GROWS, "dictionary_logs", 45,
       "Codes are logged as a slice of every tenth row, which keeps all 128 rows of each batch.",
       f"{GITHUB}/KempnerInstitute/overcomplete/issues/5", kept_by=r"\blogs\b",
       bytes_per_step=128 * 256 * 4),
    of(GROWS, "epoch_outputs", 52,
       "What each batch gave is kept until the end of the epoch, with its loss on the GPU, of which nothing is made.",
       f"{GITHUB}/Lightning-AI/pytorch-lightning/issues/4556", kept_by=r"\bepoch_output\b",
       bytes_per_step=512),
    of(GROWS, "gradient_maps", 16,
       "The hooks append each image's activations, with their graph, and gradients to lists that nobody empties.",
       f"{GITHUB}/jacobgil/pytorch-grad-cam/issues/71", kept_by=r"\b(activations|gradients)\b",
       # The image, the first two layers' outputs as far as the graph needs them, the third's, and its gradient.
       bytes_per_step=3 * 32 * 32 * 4 + 3 * 8 * 32 * 32 * 4),
    of(GROWS, "model_loop", 14,
       "The dictionary of models keeps each one on the GPU after its training, with gradients and optimizer states.",
       "https://discuss.pytorch.org/t/gpu-cached-memory-increase-when-training-different-models-in-a-loop/48998",
       kept_by=r"\ball_models\b",
       # Weights and biases of two layers: parameters, gradients and the two moments of each.
       bytes_per_step=4 * (64 * 128 * 4 + 512 + 128 * 10 * 4 + 512)),
    of(GROWS, "intermediates_cache", 30,
       "A tensor that is on the device of the cache already is both key and value of the weak dictionary: it stays.",
       f"{GITHUB}/vllm-project/llm-compressor/pull/2387", kept_by=r"\boffloaded\b",
       bytes_per_step=5 * 32 * 64 * 4),  # the batch and what four blocks give
    of(GROWS, "image_segments", 36,
       "Samples that are collected for the segments are rows of predictions with their graph, and rows of labels.",
       f"{GITHUB}/deepchecks/deepchecks/pull/1341", kept_by=r"\bcached\b",
       # Images, what the first layer gives, predictions of 640 bytes, labels of 128.
       bytes_per_step=16 * 192 * 4 + 16 * 96 * 4 + 1024 + 512),
    of(GROWS, "meta_memo", 22,
       "The converter's memo has each layer's input of each batch as a key, and so keeps it.",
       "https://app.semanticdiff.com/gh/strisunshinewentingwang/pytorch/commit/"
       "1058b475626ff31c8c69629c3053388ecd536c2c", kept_by=r"\btensor_memo\b",
       bytes_per_step=4 * 32 * 64 * 4),  # the batch and what three layers give
    of(GROWS, "batch_predictions", 18,
       "Each batch's predictions are kept on the GPU with the graph that they came from, for gradients were on.",
       f"{GITHUB}/pytorch/pytorch/issues/16417", kept_by=r"\bpredictions\b",
       bytes_per_step=40 * 48 * 4 + 40 * 96 * 4 + 2048),  # rows, the first layer's outputs, 1920 bytes of predictions
    of(GROWS, "engine_outputs", 60,
       "Tensors and dictionaries of tensors go to the host, lists do not: four pieces of sound a step stay on the GPU.",
       f"{GITHUB}/vllm-project/vllm-omni/pull/205", kept_by=r"\bfinished\b",
       bytes_per_step=4 * 2048 * 4),

    of(STAYS, "charging_replay", 48,
       "The buffer fills with its 64 transitions until the 64th step, after which each one takes the oldest's place.",
       f"{GITHUB}/Omar-687/omar_diplomovka_code/blob/HEAD/code/replay_b.py"),
    of(STAYS, "agent_buffer", 34,
       "The buffer fills until the 44th step; from then on the first experience goes when one is added.",
       f"{GITHUB}/laszukdawid/ai-traineree/blob/HEAD/ai_traineree/buffers/replay.py"),
    of(FILLS, "greedy_decode", 20,
       "Keys and values get longer for 8 tokens, and go when the prompt's answer is done.",
       f"{GITHUB}/sreekarp/Accelerated-LLM-Inference/blob/HEAD/src/decoding/kv_cache.py"),
    of(FILLS, "gist_prefix", 44,
       "Keys and values get longer from 4 gist tokens for 16 tokens of a question and its answer, and go with it.",
       f"{GITHUB}/santiweide/effiective_kernels/blob/HEAD/examples/gist_builder.py"),
    of(FILLS, "game_rollout", 18,
       "States and actions are kept for 8 steps; the update that follows clears the lists.",
       f"{GITHUB}/ZangZehua/PPO/blob/HEAD/common/rollout_buffer.py"),
    of(FILLS, "curiosity_memory", 15,
       "The memory holds the states of 7 steps; the update makes its lists anew.",
       f"{GITHUB}/NicolaiLassen/Reinforcement-learning/blob/HEAD/utils/MemBuffer.py"),
    of(STAYS, "cosine_snapshots", 36,
       "A copy of the network is added every 8 batches, five in all by the 40th; then the ensemble only predicts.",
       f"{GITHUB}/TorchEnsemble-Community/Ensemble-Pytorch/blob/HEAD/torchensemble/snapshot_ensemble.py"),
    of(STAYS, "ensemble_votes", 20,
       "Parameters are saved every 6 steps, four times in all by the 24th; then the saved ones only vote.",
       f"{GITHUB}/bzcheeseman/snapshot_ensemble/blob/HEAD/module/ensemble.py"),
    of(STAYS, "audio_positions", 28,
       "The table is made anew for a longer utterance than before; the longest of the 40 comes within 40 steps.",
       "https://huggingface.co/spaces/Kevin676/ChatGPT-with-Voice-Cloning-in-Chinese/blob/main/"
       "ppg_extractor/encoder/embedding.py"),
    of(STAYS, "length_warmup", 54,
       "Sequences get longer from 8 to 128 tokens in the first 60 steps, and stay as long after that.",
       "https://docs.mosaicml.com/projects/composer/en/stable/api_reference/generated/"
       "composer.algorithms.SeqLengthWarmup.html"),
]
