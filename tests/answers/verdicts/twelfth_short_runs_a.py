# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a twelfth set of short runs, of cases that people published: programs/twelfth_*.py.

Found, written and held against PyTorch's own allocator as those of the ninth, by other searches, and by someone who had
read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, source, **more):
    return Truth(f"twelfth_{program}", memory, why, steps=(steps,), min_steps=steps, source=source, **more)


GITHUB = "https://github.com"

TWELFTH_SHORT_RUNS_A = [
    of(GROWS, "classifier_epochs", 18,
       "the results keep the outputs of every epoch: three batches of logits of 8192 bytes and of labels of 512",
       f"{GITHUB}/microsoft/InnerEye-DeepLearning/pull/209",
       kept_by=r"\boutputs_of_epochs\b", bytes_per_step=3 * (8192 + 512)),
    of(GROWS, "flow_averages", 48,
       "moving averages of losses that were not differentiated keep the graph of each step: two indices of 4096 and "
       "12288 bytes, and the gaps there, of 2048 and 6144",
       f"{GITHUB}/alexhernandezgarcia/gflownet/pull/133",
       kept_by=r"\bloss_(term|nonterm)_ema\b", bytes_per_step=4096 + 12288 + 2048 + 6144),
    of(GROWS, "land_cover", 36,
       "the metric is computed after each epoch and never reset: two tensors of 32 x 6 numbers, 1024 bytes each, "
       "of each of three batches",
       f"{GITHUB}/NRCan/geo-deep-learning/issues/582",
       kept_by=r"\b(intersections|unions)\b|ClasswiseIoU", bytes_per_step=3 * 2 * 1024),
    of(GROWS, "log_report", 16,
       "the reporter's clone of the loss has its graph, and the sum of squares keeps the two factors of each step, "
       "512 bytes each, until the epoch of 1000 iterations is over",
       f"{GITHUB}/pfnet/pytorch-pfn-extras/pull/49",
       kept_by=r"\bx2\b|\bsummaries\b|Summary", bytes_per_step=2 * 512),
    of(GROWS, "feature_moments", 14,
       "the moving average is never detached, so it keeps the graph of all steps, with the rows that each of them "
       "multiplied, 128 x 256 numbers",
       "https://discuss.pytorch.org/t/exponential-moving-average-with-backward/93219",
       kept_by=r"\baverage\b|MovingAverage", bytes_per_step=128 * 256 * 4),
    of(GROWS, "gan_curves", 56,
       "two lists keep the loss of the discriminator and that of the generator as tensors, 512 bytes each a step",
       f"{GITHUB}/saxenabhishek/ProGan/pull/10",
       kept_by=r"\b(disc|gen)_losses\b", bytes_per_step=2 * 512),
    of(GROWS, "dense_blocks", 20,
       "a list of the class, of 900 places, keeps the output of the second layer for each batch: 8 x 32 x 16 x 16 "
       "numbers",
       "https://discuss.pytorch.org/t/cuda-out-of-memory-error-understanding-how-pytorch-stores-class-variable/13778",
       kept_by=r"\bout_saved\b", bytes_per_step=8 * 32 * 16 * 16 * 4),
    of(GROWS, "fantasy_models", 24,
       "the cached mean's graph has a hook with the strategy in it, and the strategy has the cached mean: a cycle "
       "through autograd that the garbage collector does not see, one for each imagined model: 128 x 10 inputs, 128 "
       "targets, 128 means, and two factors each of the kernels of 32 x 96 and of 128 x 128",
       f"{GITHUB}/cornellius-gp/gpytorch/issues/2631",
       kept_by=r"\bmemo\b|PredictionStrategy|clear_cache_hook",
       bytes_per_step=128 * 10 * 4 + 512 + 512 + 2 * 32 * 96 * 4 + 2 * 128 * 128 * 4),
    of(GROWS, "algorithm_episodes", 44,
       "setting a statistic adds to a list, and the loss set there is a tensor: 512 bytes an episode",
       f"{GITHUB}/IBM/mi-prometheus/issues/111",
       kept_by=r"\bstatistics\b", bytes_per_step=512),
    of(GROWS, "gradient_check", 30,
       "gradients with a graph are never detached from it, and it has the leaves that have the gradients: three leaves "
       "of 48 x 48 numbers and their gradients a step",
       f"{GITHUB}/pytorch/pytorch/issues/1346",
       kept_by=r"\bgrad\b|backward", bytes_per_step=6 * 48 * 48 * 4),

    of(STAYS, "list_replay", 40,
       "a list of 200 places, filled by four transitions a step and written over from the 51st on",
       f"{GITHUB}/opendilab/DI-engine/blob/HEAD/nervex/worker/replay_buffer/naive_buffer.py"),
    of(STAYS, "deque_experience", 24,
       "a deque of at most 72 transitions, two a step, full after 36",
       "https://opendilab.github.io/DI-engine/05_api_doc/data/buffer/deque_buffer.html"),
    of(STAYS, "box_states", 50,
       "the container is cut to its last 64 x 70 states after each 64 that come, so it is full after 70 steps",
       f"{GITHUB}/GFNOrg/torchgfn/issues/201"),
    of(STAYS, "chat_sinks", 32,
       "keys and values of at most 4 first and 40 recent tokens, one a step, so 44 steps fill them",
       f"{GITHUB}/tomaarsen/attention_sinks/blob/HEAD/attention_sinks/attention_sink_kv_cache.py"),
    of(STAYS, "generation_window", 15,
       "the cache has a window of 88 tokens, four a step, so 22 steps fill it",
       f"{GITHUB}/huggingface/transformers/pull/32315"),
    of(FILLS, "aggregate_predictions", 45,
       "the predictions of 12 validation batches, 64 x 20 numbers each, put together and dropped at the epoch's end; "
       "what was put together stays until the next epoch's",
       f"{GITHUB}/pytorchbearer/torchbearer/blob/HEAD/bink/callbacks/aggregate_predictions.py"),
    of(FILLS, "mask_counts", 20,
       "four counts of each of five validation batches, cleared at the end of each epoch of eight batches",
       "https://lightning.ai/forums/t/how-to-concatenate-outputs-on-epoch-end/2074"),
    of(FILLS, "actor_rollouts", 28,
       "states, actions and rewards of nine steps, dropped when they have been learnt from; the last ones stay",
       f"{GITHUB}/cpnota/autonomous-learning-library/blob/HEAD/all/memory/n_step.py"),
    of(STAYS, "length_sorted", 18,
       "an epoch has 26 batches of rising length, at most 120, and the next begins with the shortest again",
       f"{GITHUB}/OpenBioML/protein-lm-scaling/pull/56"),
    of(STAYS, "gpt_curriculum", 56,
       "the length rises from 8 to 96 within 80 steps and stays there",
       f"{GITHUB}/deepspeedai/DeepSpeed/pull/3031"),
]
