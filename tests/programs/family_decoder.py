# SPDX-License-Identifier: Apache-2.0
"""Trains a decoder of small modules: attention, a gated feed-forward, and the blocks around them."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, hidden):
        batch, length, width = hidden.shape
        query, key, value = (part(hidden).view(batch, length, self.heads, -1).transpose(1, 2)
                             for part in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate, self.up = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)
        self.drop = nn.Dropout(0.1)

    def forward(self, hidden):
        return self.drop(self.down(F.silu(self.gate(hidden)) * self.up(hidden)))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.feed = Attention(width, heads), FeedForward(width)

    def forward(self, hidden):
        hidden = hidden + self.attention(self.first(hidden))
        return hidden + self.feed(self.second(hidden))


class Decoder(nn.Module):
    def __init__(self, words=4000, width=512, blocks=8):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, 8) for _ in range(blocks))
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        hidden = self.words(tokens)
        for block in self.blocks:
            hidden = block(hidden)
        return self.head(self.last(hidden))


def checkpoint_class(model, name):
    for module in model.modules():
        if type(module).__name__ == name:
            forward = module.forward
            module.forward = lambda *given, forward=forward: checkpoint(forward, *given, use_reentrant=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    model = Decoder().cuda()
    name, _, amount = chosen.change.partition("=")
    if name == "checkpointing":
        checkpoint_class(model, amount)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(6):
        tokens = torch.randint(4000, (6, 513)).cuda()
        with torch.autocast("cuda", torch.bfloat16, enabled=name == "mixed_precision"):
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
