# SPDX-License-Identifier: Apache-2.0
"""A small transformer and its batches, the same at all ranks but for their numbers."""

import torch
from torch import nn

VOCABULARY, WIDTH, LENGTH, BATCH = 500, 256, 64, 4


class Transformer(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(layers)
        )
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        hidden = self.tokens(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(hidden)


def batch(scale=1):
    text = torch.randint(VOCABULARY, (BATCH * scale, LENGTH + 1)).cuda()
    return text[:, :-1], text[:, 1:]


def loss_of(logits, targets):
    return nn.functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def parameters_of(model):
    return sum(parameter.numel() for parameter in model.parameters())
