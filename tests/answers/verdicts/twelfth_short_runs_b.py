# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a twelfth set of short runs, of cases that people published: programs/twelfth_*.py.

Found, written and held against PyTorch's own allocator as those of the ninth, by other searches, and by someone who had
read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, source, **more):
    return Truth(f"twelfth_{program}", memory, why, steps=(steps,), min_steps=steps, source=source, **more)


GITHUB = "https://github.com"

TWELFTH_SHORT_RUNS_B = [
    of(GROWS, "qa_folds", 14,
       "all_results keeps each fold's result with its predictions and labels on the GPU: 3 batches of 8192 and 512 "
       "bytes.",
       f"{GITHUB}/deepset-ai/FARM/issues/544",
       kept_by=r"\ball_results\b", bytes_per_step=3 * (16 * 64 * 2 * 4 + 512)),
    of(GROWS, "sentence_vectors", 36,
       "embeddings gets each batch's vectors on the GPU, with their graph since gradients are on: ids of 1536 bytes, "
       "a mean and the vectors of 4096 each, the hidden of 8192.",
       f"{GITHUB}/BM-K/Sentence-Embedding-Is-All-You-Need/issues/8",
       kept_by=r"\bembeddings\b", bytes_per_step=8 * 24 * 8 + 2 * 8 * 128 * 4 + 8 * 256 * 4),
    of(GROWS, "stored_inputs", 50,
       "get_preds stores the inputs of every batch in inps on the GPU, decoded or not: 8 images of 12288 bytes.",
       f"{GITHUB}/muellerzr/fastinference/issues/7",
       kept_by=r"\binps\b", bytes_per_step=8 * 3 * 32 * 32 * 4),
    of(GROWS, "norm_dummies", 32,
       "_DUMMY_CACHE keeps zeros for every batch size that comes, 1024 bytes a request, and each step's is another "
       "one, of up to 256.",
       f"{GITHUB}/NVIDIA/TensorRT-LLM/pull/17332",
       kept_by=r"_DUMMY_CACHE"),
    of(GROWS, "unit_scales", 16,
       "The function's cache has no bound and keeps scales for each number of rows, 64 bytes a row; every prompt has "
       "another length, of 40 to 999.",
       f"{GITHUB}/local-inference-lab/b12x/issues/166",
       kept_by=r"unit_scales"),
    of(GROWS, "reported_errors", 44,
       "The summary adds up what is reported with its graph, and the mean error, which is not differentiated, keeps "
       "the errors of 8192 bytes.",
       f"{GITHUB}/pfnet/pytorch-pfn-extras/pull/49",
       kept_by=r"\b_x\b|_summar", bytes_per_step=64 * 32 * 4),
    of(GROWS, "step_outputs", 24,
       "The loop keeps what each step returned for the epoch's end, which uses none of it: predictions and targets of "
       "65536 bytes each and a loss.",
       f"{GITHUB}/HelmholtzAI-Consultants-Munich/Quicksetup-ai/pull/26",
       kept_by=r"\bepoch_output\b", bytes_per_step=2 * 4 * 64 * 64 * 4 + 512),
    of(GROWS, "validation_sums", 18,
       "The validation is without no_grad, and the sum of errors keeps every image's graph: 12288 bytes of the image, "
       "32768 of each of two hidden ones, 49152 of differences.",
       f"{GITHUB}/leftthomas/SRGAN/issues/43",
       kept_by=r"valing_results",
       bytes_per_step=3 * 32 * 32 * 4 + 2 * 8 * 32 * 32 * 4 + 3 * 64 * 64 * 4),
    of(GROWS, "token_vectors", 54,
       "Each token keeps its vector on the GPU and the sentences all their tokens: 4 sentences of 12 tokens of 512 "
       "bytes a mini-batch.",
       f"{GITHUB}/flairNLP/flair/issues/1124",
       kept_by=r"\bsentences\b|\bembeddings\b", bytes_per_step=4 * 12 * 128 * 4),
    of(GROWS, "validation_pages", 42,
       "The trainer's page is every batch of the validation so far, states included, appended by cat: 32 rows of "
       "64 + 16 + 4 bytes a step.",
       f"{GITHUB}/facebookresearch/ReAgent/pull/460",
       kept_by=r"\bpage\b", bytes_per_step=32 * (16 + 4 + 1) * 4),
    of(STAYS, "position_table", 30,
       "The table of sines is made anew, longer, when a longer batch comes; texts are cut at 96 words, so it ends at "
       "96 * 192 * 4 bytes, from the 28th step on.",
       f"{GITHUB}/Etto48/MIRProject/blob/HEAD/mir/neural_relevance/pos_enc.py"),
    of(STAYS, "temporal_window", 15,
       "The buffer has at most 10 frames of 100352 bytes, full at the tenth step.",
       f"{GITHUB}/AstroSword2897/MaxSight/blob/HEAD/ml/models/temporal/temporal_encoder.py"),
    of(FILLS, "streaming_cache", 48,
       "Keys and values grow by 2048 bytes a token until the 16th and are then cut, losses by 512; an evaluation is of "
       "24 tokens and the next begins empty.",
       f"{GITHUB}/PruneGCN/SepLLM/blob/HEAD/Streaming-SepLLM/main/evaluate_streaming_inputs_perplexity.py"),
    of(STAYS, "sliding_memory", 20,
       "Each of 4 memories is a view of the last 80 places, of 2560 bytes each, of at most 85: full with the 17th "
       "window of 5.",
       f"{GITHUB}/IDSIA/lmtool-fwp/blob/HEAD/src/eval_sliding_window.py"),
    of(FILLS, "window_losses", 60,
       "A document's losses are kept until its perplexity is told, after 20 windows: 20 times 512 bytes.",
       f"{GITHUB}/huggingface/transformers/blob/main/docs/source/es/perplexity.md"),
    of(STAYS, "resolution_stages", 40,
       "Gradients and the states of Adam come with the layers of each of 4 stages of 12 steps; the last "
       "begins with the 37th.",
       f"{GITHUB}/KimRass/PGGAN"),
    of(FILLS, "reaction_beams", 56,
       "Sequences and cached keys and values of 30 beams grow token by token, fewer as images are done; after 14 "
       "tokens the batch is.",
       f"{GITHUB}/thomas0809/RxnScribe/blob/HEAD/rxnscribe/inference/beam_search.py"),
    of(FILLS, "token_beams", 28,
       "Each of 6 beams keeps origins and tokens of each step, 2 times 512 bytes, until the texts are written after "
       "14 tokens.",
       "https://huggingface.co/datasets/code-philia/ttvnet/blob/main/Text-code/text-to-code/code/beam.py"),
    of(STAYS, "task_gradients", 24,
       "A vector of all 17226 parameters is added at the end of a task, of which there are 8 of 4 steps: 7 vectors of "
       "69120 bytes from the 29th step on.",
       "https://aimagelab.github.io/mammoth/generated/models.gem.html"),
    of(STAYS, "snapshot_nets", 18,
       "A copy of the network and its optimizer every 6 steps, 5 in all, after which copies only predict.",
       f"{GITHUB}/Aifred-Health/VulcanAI/blob/HEAD/vulcanai2/models/snapshot_ensemble.py"),
]
