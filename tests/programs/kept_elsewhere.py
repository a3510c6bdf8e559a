# SPDX-License-Identifier: Apache-2.0
"""A transformer whose saved tensors wait in pinned memory of the host (save_on_cpu); --selective
checkpoints its blocks with a policy that keeps the results of matrix products."""

import functools

import torch
from torch import nn
from torch.utils.checkpoint import (
    CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts,
)

from batches import DEVICE, on_device, options, peak
from variant import flag

SELECTIVE = flag("--selective")
VOCABULARY, WIDTH, LENGTH = 4000, 384, 192
KEPT = {torch.ops.aten.mm.default, torch.ops.aten.addmm.default,
        torch.ops.aten._scaled_dot_product_efficient_attention.default}


def policy(_context, operator, *_arguments, **_named):
    return CheckpointPolicy.MUST_SAVE if operator in KEPT else CheckpointPolicy.PREFER_RECOMPUTE


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 6, 4 * WIDTH, batch_first=True, norm_first=True, dropout=0.0)
            for _ in range(4)
        )
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        hidden = self.tokens(tokens)
        for block in self.blocks:
            if SELECTIVE:
                contexts = functools.partial(create_selective_checkpoint_contexts, policy)
                hidden = checkpoint(block, hidden, use_reentrant=False, context_fn=contexts)
            else:
                with torch.autograd.graph.save_on_cpu(pin_memory=True):
                    hidden = block(hidden)
        return self.head(hidden)


def main():
    chosen = options(steps=3)
    model = Model().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    texts = ((torch.randint(VOCABULARY, (12, LENGTH + 1)),) for _ in range(chosen.steps))
    for (text,) in on_device(texts, chosen.streams):
        logits = model(text[:, :-1])
        nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"kept elsewhere: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
