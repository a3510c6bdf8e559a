# SPDX-License-Identifier: Apache-2.0
"""The truth of the programs that accumulate: programs/leak_*.py (and of one that only seems to).

Bytes a step: what the shapes in the program say, each tensor rounded up to 512, as the allocator does."""

from truth import FILLS, GROWS, STAYS, Truth

LEAKS = [
    Truth(
        "leak_total_loss", GROWS, quick=True,
        why="total_loss keeps the graph of every batch, since no backward frees it",
        kept_by=r"total_loss.*local of measure", remedy=r"no_grad|inference_mode|detach|float|item",
        # The batch, two results of relu, logarithms of the softmax, labels, total of the weights.
        bytes_per_step=64 * 128 * 4 + 2 * 64 * 256 * 4 + 64 * 10 * 4 + 64 * 8 + 512),
    Truth(
        "leak_losses_list", GROWS, quick=True, steps=(30, 100, 300, 3000),
        why="a loss a step stays on the GPU, 4 bytes in a block of 512; backward freed the rest",
        kept_by=r"losses\b.*list.*local of fit", remedy=r"detach|float|item", bytes_per_step=512),
    Truth(
        "leak_total_loss_context", GROWS,
        why="backward frees saved tensors, but not what a custom Function put on its context, and "
            "total_loss keeps the node",
        kept_by=r"total_loss.*local of train", remedy=r"detach|float|item",
        bytes_per_step=64 * 512),
    Truth(
        "leak_hidden_state", GROWS,
        why="the hidden state keeps the graph of all chunks so far",
        kept_by=r"hidden.*local of perplexity", remedy=r"detach|no_grad|inference_mode",
        # Eight positions: an embedded word and a hidden state each; and the chunk itself.
        bytes_per_step=8 * (16 * 64 * 4 + 16 * 128 * 4) + 16 * 8 * 8),
    Truth(
        "leak_epoch_outputs", FILLS, shapes=("sawtooth",), min_steps=100,
        why="logits and labels of an epoch's 20 steps stay until the epoch ends",
        kept_by=r"outputs\b.*Trainer|outputs\b.*list", remedy=r"clear|cpu|loss"),
    Truth(
        "leak_embedding_views", GROWS, subject=("device", "phase"), quick=True,
        why="each element of the list is a view that keeps its whole batch; nothing leaves the list "
            "before the training that follows",
        kept_by=r"embeddings\[.*list", remedy=r"cpu|batch|clone",
        bytes_per_step=8 * 49 * 4 * 32 * 4),
    Truth(
        "leak_teacher_center", GROWS,
        why="the running average of the teacher's outputs keeps the graphs of all its forward calls, "
            "through which no backward ever goes",
        kept_by=r"center", remedy=r"no_grad|detach",
        bytes_per_step=64 * 128 * 4 + 64 * 256 * 4),  # the batch, the result of relu
    Truth(
        "leak_create_graph", GROWS,
        why="each task's copy of the model is tied to its gradients by their graph, and the graph to "
            "the copy: a cycle of C++ objects",
        kept_by=r"nothing|cycle|C\+\+", remedy=r"autograd\.grad|create_graph|\.grad = None"),
    Truth(
        "leak_eval_logits", FILLS, subject=("phase:evaluation",), quick=True,
        why="the logits of an evaluation's 60 batches stay until it ends",
        kept_by=r"all_logits.*local of evaluate", remedy=r"cpu|argmax"),
    Truth(
        "leak_validation_outputs", GROWS, min_steps=100, quick=True,
        why="the logits of twelve validation batches every ten steps stay in a list of the trainer",
        kept_by=r"validation_outputs", remedy=r"clear|cpu", bytes_per_step=12 * 64 * 100 * 4 / 10),
    Truth(
        "leak_metric_steps", GROWS,
        why="the metric's lists get the scores and labels of each step and are never reset",
        kept_by=r"scores", remedy=r"reset|clear|cpu", bytes_per_step=64 * 20 * 4 + 64 * 8),
    Truth(
        "leak_metric_epochs", GROWS, min_steps=60,
        why="ten batches of predictions and targets every eight steps, never reset",
        kept_by=r"predictions|targets", remedy=r"reset|clear|cpu",
        bytes_per_step=10 * 2 * 128 * 32 * 4 / 8),
    Truth(
        "leak_caught_oom", GROWS, min_steps=60,
        why="every sixth document fails, and its error keeps the frames of the forward call with their "
            "embedded words, queries, keys and values",
        kept_by=r"skipped|traceback", remedy=r"except|traceback",
        # By steps of the optimizer, of which a document that fails makes none.
        bytes_per_step=(100_000 * 8 + 100_000 * 32 * 4 + 100_000 * 96 * 4) / 5),
    Truth(
        "leak_embedding_cat", GROWS, subject=("device", "phase"),
        why="the features of all images are collected before training begins",
        kept_by=r"embeddings", remedy=r"cpu|batch", bytes_per_step=16 * 512 * 4),
    Truth(
        "leak_lora_embeddings", GROWS, subject=("device", "phase"),
        why="between two trainings a list collects the embeddings of a whole domain",
        kept_by=r"embeddings\[.*list", remedy=r"cpu|batch", bytes_per_step=32 * 4 * 128 * 4),
    Truth(
        "leak_lora_rewrapped", GROWS, min_steps=60, quick=True,
        why="every ten steps both layers are wrapped once more; what is wrapped keeps its weights, and "
            "its last gradients, too",
        kept_by=r"base|model",
        # Two layers, a matrix down and one up, each with its gradient.
        bytes_per_step=2 * 2 * 2 * 256 * 8 * 4 / 10),
    Truth(
        "leak_growing_lengths", GROWS, subject=("reserved",), gpu="h200", min_steps=60,
        why="blocks of 128 MiB and more are each time a little too small for the next batch and stay "
            "reserved, while as much as before is allocated",
        remedy=r"expandable"),
    Truth(
        "leak_loader_copies", GROWS, subject=("host",), min_steps=100,
        why="the workers copy the pages of the list that they read, half a megabyte a step"),
    Truth(
        "leak_worker_cache", GROWS, subject=("host",), min_steps=100,
        why="the workers keep sixteen recordings of 64,000 bytes a step"),
    Truth(
        "leak_host_results", GROWS, subject=("host",), min_steps=100, quick=True,
        why="two pictures of 16 × 128 × 128 floats a step stay on the host: 2 MiB"),
    Truth(
        "leak_pinned_staging", GROWS, subject=("host",), min_steps=100,
        why="each batch of 1 MiB is pinned, and none is let go"),
    Truth(
        "leak_tiny", GROWS, steps=(30, 100, 300, 2000), quick=True,
        why="one number a step stays in a dictionary, among some fifty lines that allocate",
        kept_by=r"norms", remedy=r"float|item|cpu", bytes_per_step=512),
    Truth(
        "leak_gibibyte", GROWS, gpu="b200", memory_size="400GiB",
        why="every state of the simulation stays in a list", kept_by=r"film", remedy=r"cpu|disk",
        bytes_per_step=645 ** 3 * 4),
    Truth(
        "leak_side_stream", GROWS,
        why="features made on another stream stay in a list", kept_by=r"alive",
        bytes_per_step=16 * 8 * 15 * 15 * 4),
    Truth(
        "leak_thread", GROWS,
        why="a thread keeps what it made in a dictionary by step", kept_by=r"made",
        bytes_per_step=8 * 32 * 4 * 4),
    Truth(
        "leak_server_cache", GROWS,
        why="four of five requests are new and stay in a dictionary without a bound",
        kept_by=r"cache", remedy=r"bound|maxsize|limit|lru"),
    Truth(
        "leak_growing_tensor", GROWS,
        why="one tensor gets 32 more rows a step", kept_by=r"memory",
        bytes_per_step=32 * 64 * 4),
    Truth(
        "leak_forward_hook", GROWS, quick=True,
        why="a forward hook stores the layer's output each time", kept_by=r"activations",
        remedy=r"hook|clear|cpu", bytes_per_step=8 * 8 * 16 * 16 * 4),
    Truth(
        "leak_closure", GROWS,
        why="a closure's list keeps the gradients of each step, of which it uses the last eight",
        kept_by=r"seen", remedy=r"clear|bound|deque|maxlen|cpu", bytes_per_step=41 * 512),
    Truth(
        "leak_global_dict", GROWS,
        why="attention weights go to a global dictionary by step", kept_by=r"ATTENTION",
        bytes_per_step=8 * 24 * 24 * 4),
    Truth(
        "leak_lru_cache", GROWS,
        why="an unbounded cache gets a matrix of some 160 × 160 for nearly every pair of lengths",
        kept_by=r"lru_cache|distance_bias", remedy=r"bound|maxsize|limit",
        bytes_per_step=159.5 ** 2 * 4, tolerance=0.25),
    Truth(
        "leak_class_attribute", GROWS,
        why="the noise of each step stays in a list of the class", kept_by=r"history",
        bytes_per_step=48 * 96 * 4),
    Truth(
        "leak_logger_history", GROWS,
        why="a loss, a norm and a batch of outputs a step stay in the logger's history",
        kept_by=r"history", remedy=r"float|item|cpu",
        bytes_per_step=512 + 512 + 128 * 24 * 4),
    Truth(
        "leak_deque", GROWS,
        why="a deque without maxlen gets a tensor a step, of which the last sixteen are used",
        kept_by=r"recent.*deque", remedy=r"maxlen|bound", bytes_per_step=64 * 12 * 4),
    Truth(
        "leak_optimizers", GROWS, min_steps=60,
        why="every eight steps a new Adam, whose predecessors stay in a list with their two moments",
        kept_by=r"optimizers", bytes_per_step=2 * (64 * 128 * 4 + 512 + 128 * 32 * 4 + 512) / 8),
    Truth(
        "leak_cycle", GROWS,
        why="each batch is part of a reference cycle and the garbage collector is off",
        kept_by=r"nothing|cycle", remedy=r"cycle|gc|weak", bytes_per_step=64 * 80 * 4),
    Truth(
        "leak_snapshots", GROWS, min_steps=60,
        why="a copy of the weights every ten steps stays in a list", kept_by=r"snapshots",
        remedy=r"cpu|disk|save", bytes_per_step=2 * (48 * 128 * 4 + 512) / 10),
    Truth(
        "leak_late", GROWS, min_steps=100,
        why="a quarter of each batch is kept, in the last 45 % of the steps", kept_by=r"\bkept"),
    Truth(
        "leak_evaluation_cache", GROWS, min_steps=60,
        why="an evaluation every six steps leaves four pictures of each of its eight batches",
        kept_by=r"examples", remedy=r"cpu|clear|bound", bytes_per_step=8 * 4 * 3 * 24 * 24 * 4 / 6),
    Truth(
        "leak_rising_sawtooth", GROWS, min_steps=100,
        why="of twelve batches three are never dropped; the others are, together",
        kept_by=r"elite", bytes_per_step=3 * 64 * 64 * 4 / 12),
]

STAY_FLAT = [
    Truth(
        "look_total_loss", STAYS,
        why="the sum keeps nodes, on the host, but backward has freed what they had saved, and an "
            "addition saves nothing",
        # Some kilobytes of nodes a step on the host do grow; whoever says so is right.
        subject=("host",)),
]
