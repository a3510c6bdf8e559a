# SPDX-License-Identifier: Apache-2.0
"""The truth of the programs that accumulate: programs/leak_*.py (and of one that only seems to)."""

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
        kept_by=r"train_embeddings\b.*list.*local of collect", remedy=r"cpu|batch|clone",
        bytes_per_step=8 * 49 * 4 * 32 * 4),
]

STAY_FLAT = [
    Truth(
        "look_total_loss", STAYS,
        why="the sum keeps nodes, on the host, but backward has freed what they had saved, and an "
            "addition saves nothing",
        # Some kilobytes of nodes a step on the host do grow; whoever says so is right.
        subject=("host",)),
]
