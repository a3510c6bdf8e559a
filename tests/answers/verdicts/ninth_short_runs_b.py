# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a ninth set of short runs, of cases that people published: programs/ninth_*.py.

Each case stands in a public place, which its truth names: a thread in which somebody reports growing GPU memory that
came out as a leak of the program, or a public repository's code that fills a buffer. The programs are written anew.
Which case is taken was not chosen by what it would be to judge: the searches' results in their order. Held against
what PyTorch's own allocator says of them, before memtrace gave a verdict on any, by someone who had read neither the
analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, source, **more):
    return Truth(f"ninth_{program}", memory, why, steps=(steps,), min_steps=steps, source=source, **more)


NINTH_SHORT_RUNS_B = [
    of(GROWS, "sample_faces", 45,
       "after each epoch of 5 batches the 16 faces drawn from the fixed noise are kept in samples, on the GPU and "
       "with the generator's graph, since they are drawn with gradients: 376832 B an epoch",
       "https://github.com/udacity/deep-learning-v2-pytorch/pull/106", kept_by=r"\bsamples\b",
       # fc and both halves of up1 and its ReLU, and the faces: 16·1024·4 + 2·16·32·8·8·4 + 16·3·16·16·4, every 5 steps.
       bytes_per_step=(65536 + 2 * 131072 + 49152) / 5),
    of(GROWS, "precision_curve", 30,
       "the metric's states are lists of all scores and targets that it was called with, and nothing calls reset()",
       "https://github.com/Lightning-AI/torchmetrics/issues/3294", kept_by=r"\b(preds|target)\b",
       bytes_per_step=256 * 16 * 4 + 256 * 16 * 8),
    of(GROWS, "tracker_stats", 24,
       "AverageMeter adds up the overlap as a tensor with its graph, what the loss's backward() did not go through "
       "is never freed; the history of averages keeps it beyond the epoch of 12 batches",
       "https://github.com/visionml/pytracking/pull/313",
       kept_by=r"\bstats\b|\bhistory\b|\bsum\b|\bavg\b",
       # The predicted and the true boxes; the difference, the sides and the extent; the common area and the union.
       bytes_per_step=2 * 1024 * 4 * 4 + 3 * 1024 * 2 * 4 + 2 * 1024 * 4),
    of(GROWS, "restore_quality", 15,
       "both metrics append each batch's result to a list that is never reset, with its graph, since the generated "
       "pictures are not detached: their own intermediate tensors of up to 8·32·32·4 B stay",
       "https://blog.gitcode.com/0a7798965d1a1c2673d580dbb4875941.html", kept_by=r"\b(errors|similarity)\b"),
    of(GROWS, "recurrent_rollout", 50,
       "the LSTM's state goes into the experience buffer without being detached, and the next step goes on from it: "
       "the graph of each group reaches back to its first step",
       "https://github.com/Metta-AI/metta/pull/1139", kept_by=r"\blstm_[hc]\b",
       # Two kinds of gates and the cell's workspace of 16·256; features, h and c of 16·64; the observation of 16·32.
       bytes_per_step=3 * 16 * 256 * 4 + 3 * 16 * 64 * 4 + 16 * 32 * 4),
    of(GROWS, "talk_server", 36,
       "keys and values of every conversation stay in sessions when it is over, after 3 requests",
       "https://www.jjblogs.com/threads/226595", kept_by=r"\bsessions\b",
       # Keys and values of two layers: 3 requests of 12 tokens and the 3 answered ones that were fed in, of 64 floats,
       # are 11520 B each, in blocks of 512 B.
       bytes_per_step=4 * 11776 / 3),
    of(GROWS, "series_gaps", 18,
       "likelihood and error of the missing points are added up with their graphs, which no backward() goes "
       "through; they are dropped at the epoch's end only, and all of the run is one epoch",
       "https://github.com/boschresearch/Continuous-Recurrent-Units/pull/4", kept_by=r"\bepoch_imput_(ll|mse)\b",
       # Two differences, the variance, the error and the mask of 32·50·8; the mask's sum twice.
       bytes_per_step=5 * 32 * 50 * 8 * 4 + 2 * 512),
    of(GROWS, "tensor_fit", 56,
       "the history of losses is of tensors: a scalar's block each iteration, its graph beside it",
       "https://github.com/rballester/tntorch/pull/19", kept_by=r"\blosses\b", bytes_per_step=512),
    of(GROWS, "usage_report", 20,
       "the reporter's names are in a dictionary by tensor, which keeps every tensor that a report ever named: "
       "rows, prediction, loss and gradients of each batch",
       "https://github.com/Stonesjtu/pytorch_memlab/issues/17", kept_by=r"\btensor_name\b",
       # Rows, prediction, loss; gradients of two weights and two biases.
       bytes_per_step=256 * 48 * 4 + 256 * 8 * 4 + 512 + 64 * 48 * 4 + 512 + 8 * 64 * 4 + 512),
    of(GROWS, "super_resolve", 40,
       "what is kept of each recording is the last of 6 points of a trajectory, a view that keeps all of them",
       "https://github.com/woongzip1/UniverSR/issues/9", kept_by=r"\brestored\b", bytes_per_step=6 * 2048 * 4),

    of(STAYS, "transition_store", 52,
       "the list has at most 256 transitions, then the oldest are replaced: full after 64 steps of 4",
       "https://docs.pytorch.org/rl/stable/reference/generated/torchrl.data.replay_buffers.ListStorage.html"),
    of(STAYS, "pole_balance", 34,
       "the deque has a maxlen of 48 transitions, one a step",
       "https://github.com/pytorch/tutorials/pull/842"),
    of(FILLS, "windowed_decoder", 48,
       "keys and values grow with each of a prompt's 32 new tokens, in two of three layers to the last 12, and are "
       "dropped when the next prompt begins",
       "https://github.com/rasbt/LLMs-from-scratch/pull/879"),
    of(FILLS, "reconstruct_digits", 20,
       "the losses of an epoch of 30 batches are kept for their mean, and cleared at its end",
       "https://github.com/ZakariaPZ/Autoencoders/blob/main/callbacks.py"),
    of(FILLS, "validation_average", 28,
       "the losses of a validation of 10 batches are kept for their mean, and cleared at its end; one follows each "
       "14 batches",
       "https://github.com/Lightning-AI/pytorch-lightning/discussions/17182"),
    of(STAYS, "style_swap", 14,
       "each of two pools has at most 24 pictures, one more a step until then",
       "https://github.com/zhixiangshuijiaozzz/CycleGAN-PY/blob/main/utils/image_pool.py"),
    of(STAYS, "season_change", 32,
       "each of two buffers has at most 50 photographs, one more a step until then",
       "https://github.com/dhassault/cyclegan_pytorch/blob/master/cyclegan_pytorch/architecture/utils.py"),
    of(STAYS, "prototype_memory", 44,
       "each of 10 classes, of which 14 steps bring two new ones, has a prototype and at most about 20 pictures "
       "with features",
       "https://github.com/Mattdl/ContinualPrototypeEvolution/blob/main/model/prototypical/mem_scheme.py"),
    of(FILLS, "pick_exemplars", 16,
       "after 3 batches of training the hidden states of 7 batches are collected by kind, and dropped when "
       "exemplars are picked",
       "https://github.com/chenlong-clock/CFED-HANet/blob/main/exemplars.py"),
    of(STAYS, "quasi_newton", 18,
       "the memory has at most 30 pairs of directions and changes of the gradient, one more a step until then",
       "https://github.com/pytorch/pytorch/blob/main/torch/optim/lbfgs.py"),
]
