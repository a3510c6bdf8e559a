# SPDX-License-Identifier: Apache-2.0
"""A small language model whose logits are what does not fit."""
import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

CHANGED = "--changed" in sys.argv
WORDS = 128256
embed = nn.Embedding(WORDS, 512).cuda()
layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8, 1024, batch_first=True), 2).cuda()
head = nn.Linear(512, WORDS, bias=False).cuda()
everything = [*embed.parameters(), *layers.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(everything, fused=True)
for step in range(5):
    words = torch.randint(WORDS, (16, 513), device="cuda")
    hidden, targets = layers(embed(words[:, :-1])), words[:, 1:].flatten()
    if CHANGED:
        loss = 0
        for h, t in zip(hidden.flatten(0, 1).chunk(8), targets.chunk(8)):
            loss = loss + checkpoint(lambda h, t: cross_entropy(head(h), t, reduction="sum"), h, t, use_reentrant=False)
        loss = loss / targets.numel()
    else:
        logits = head(hidden)
        loss = cross_entropy(logits.flatten(0, 1), targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
