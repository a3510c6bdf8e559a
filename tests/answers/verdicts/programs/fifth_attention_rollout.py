# SPDX-License-Identifier: Apache-2.0
"""A small vision transformer; what it looked at is shown by attention rollout for each batch."""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = scores.softmax(-1)  # allocates
        mixed = (weights @ v).transpose(1, 2).reshape(batch, tokens, width)
        return self.out(mixed), weights


class ViT(nn.Module):
    def __init__(self, width=64, depth=3, heads=4, classes=10):
        super().__init__()
        self.patches = nn.Linear(3 * 4 * 4, width)
        self.blocks = nn.ModuleList(Attention(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x)
        for block in self.blocks:
            x = x + block(x)[0]
        return self.head(x.mean(1))


class Rollout:
    """Abnar and Zuidema: the product of the layers' attention, with the residual's identity."""

    def __init__(self, model):
        self.depth = len(model.blocks)
        self.maps = []
        for block in model.blocks:
            block.register_forward_hook(self.note)

    def note(self, module, inputs, output):
        self.maps.append(output[1].detach())  # keeps

    def result(self):
        joint = None
        for attention in self.maps[-self.depth:]:
            mean = attention.mean(1)
            mean = 0.5 * mean + 0.5 * torch.eye(mean.shape[-1], device=mean.device)
            joint = mean if joint is None else mean @ joint
        return joint


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = ViT().cuda()
    rollout = Rollout(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        patches = torch.randn(8, 64, 48).cuda()  # step
        labels = torch.randint(10, (8,)).cuda()
        loss = F.cross_entropy(model(patches), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen = rollout.result()
        print(step, tuple(seen.shape))


if __name__ == "__main__":
    main()
