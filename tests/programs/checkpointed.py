# SPDX-License-Identifier: Apache-2.0
"""A transformer with activation checkpointing in mixed precision: fp16 autocast and GradScaler.

--reentrant uses the older kind of checkpointing, --plain none.
"""

import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from batches import DEVICE, on_device, options, peak

VOCABULARY, LENGTH, WIDTH = 1000, 256, 384
REENTRANT, PLAIN = "--reentrant" in sys.argv, "--plain" in sys.argv


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 6, 4 * WIDTH, batch_first=True, norm_first=True)
            for _ in range(6)
        )
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        hidden = self.tokens(tokens)
        for block in self.blocks:
            if PLAIN:
                hidden = block(hidden)
            else:
                hidden = checkpoint(block, hidden, use_reentrant=REENTRANT)
        return self.head(hidden)


def main():
    sys.argv = [word for word in sys.argv if word not in ("--reentrant", "--plain")]
    chosen = options(steps=3)
    model = Encoder().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(DEVICE, enabled=DEVICE == "cuda")
    texts = ((torch.randint(VOCABULARY, (32, LENGTH + 1)),) for _ in range(chosen.steps))
    for (text,) in on_device(texts, chosen.streams):
        optimizer.zero_grad()
        with torch.autocast(DEVICE, dtype=torch.float16 if DEVICE == "cuda" else torch.bfloat16):
            logits = model(text[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    print(f"checkpointed: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
