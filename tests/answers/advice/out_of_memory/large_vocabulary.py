# SPDX-License-Identifier: Apache-2.0
"""A small language model whose logits are what does not fit."""
import sys

import torch
from torch import nn

PARTS = 2 if "--changed" in sys.argv else 1
WORDS = 128256
embed = nn.Embedding(WORDS, 512).cuda()
layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8, 1024, batch_first=True), 2).cuda()
head = nn.Linear(512, WORDS, bias=False).cuda()
everything = [*embed.parameters(), *layers.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(everything, fused=True)
for step in range(5):
    words = torch.randint(WORDS, (16, 513), device="cuda")
    for part in words.chunk(PARTS):
        logits = head(layers(embed(part[:, :-1])))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), part[:, 1:].flatten())
        (loss / PARTS).backward()
    optimizer.step()
    optimizer.zero_grad()
