# SPDX-License-Identifier: Apache-2.0
"""Runs out of memory by fragmentation: passes with expandable_segments:True."""
import torch
from torch import nn
import torch.nn.functional as F

LENGTH, WIDTH, HEADS, WORDS, BATCH = 1024, 384, 6, 50304, 12


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.split, self.join = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.register_buffer("future", torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1))

    def forward(self, x):
        q, k, v = self.split(self.before(x)).view(*x.shape[:2], 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) * (WIDTH // HEADS) ** -0.5
        scores = scores.masked_fill(self.future, float("-inf")).softmax(-1)
        x = x + self.join((scores @ v).transpose(1, 2).flatten(2))
        return x + self.narrow(F.gelu(self.wide(self.after(x))))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers, self.norm = nn.ModuleList(Layer() for _ in range(6)), nn.LayerNorm(WIDTH)

    def forward(self, tokens):
        x = self.words(tokens) + self.places.weight
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.words.weight.T


model = Words().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(4):
    tokens = torch.randint(0, WORDS, (BATCH, LENGTH + 1)).cuda()
    loss = F.cross_entropy(model(tokens[:, :-1]).view(-1, WORDS), tokens[:, 1:].reshape(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
