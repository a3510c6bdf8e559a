# SPDX-License-Identifier: Apache-2.0
"""Words are tagged, in sentences of different lengths without padding: nested jagged tensors through a transformer."""

import torch
from torch import nn

import told
from batches import DEVICE, options, peak

WIDTH, HEADS, CLASSES = 256, 4, 20


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, words):
        normed = self.norm(words)
        query, key, value = (
            project(normed).unflatten(-1, [HEADS, WIDTH // HEADS]).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        mixed = nn.functional.scaled_dot_product_attention(query, key, value)
        words = words + self.out(mixed.transpose(1, 2).flatten(-2))
        return words + self.mlp(words)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(4000, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, tokens):
        words = self.tokens(tokens)
        for block in self.blocks:
            words = block(words)
        return self.head(words)


def main():
    chosen = options(steps=3)
    model = Tagger().to(DEVICE, torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(chosen.steps):
        sentences = [torch.randint(4000, (int(length),)) for length in torch.randint(40, 400, (32,))]
        text = told.inputs(torch.nested.nested_tensor(sentences, layout=torch.jagged, device=DEVICE))
        label = told.inputs(torch.randint(CLASSES, (sum(map(len, sentences)),)).to(DEVICE))
        nn.functional.cross_entropy(model(text).values().float(), label).backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"jagged: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
