# SPDX-License-Identifier: Apache-2.0
"""Trains an encoder whose attention keeps all scores, on texts that are all padded to 2048."""

import argparse
import functools

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Attention(nn.Module):
    kernel = False  # --change attention_kernel

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, hidden):
        batch, length, width = hidden.shape
        query, key, value = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.project(hidden).chunk(3, dim=-1)
        )
        if self.kernel:
            mixed = F.scaled_dot_product_attention(query, key, value)
        else:
            scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
            mixed = F.softmax(scores, dim=-1) @ value
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, hidden):
        hidden = hidden + self.attention(self.first(hidden))
        return hidden + self.feed(self.second(hidden))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    Attention.kernel = chosen.change == "attention_kernel"
    length = 1024 if chosen.change == "sequence_length" else 2048
    embed = nn.Embedding(8000, 384).cuda()
    layers = nn.Sequential(*(Layer(384, 8) for _ in range(6)), nn.Linear(384, 5)).cuda()
    if chosen.change.startswith("checkpointing="):
        for module in layers.modules():
            if type(module).__name__ == chosen.change.partition("=")[2]:
                module.forward = functools.partial(checkpoint, module.forward, use_reentrant=False)
    parameters = [*embed.parameters(), *layers.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-4)
    for _ in range(6):
        tokens = torch.randint(8000, (1, length)).cuda()
        labels = torch.randint(5, (1,)).cuda()
        with torch.autocast("cuda", torch.bfloat16, enabled=chosen.change == "mixed_precision"):
            loss = F.cross_entropy(layers(embed(tokens)).mean(dim=1), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
