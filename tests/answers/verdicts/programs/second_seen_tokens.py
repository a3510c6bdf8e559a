# SPDX-License-Identifier: Apache-2.0
"""A vision transformer that sees a quarter of a picture's patches at first, and all of them in the end."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Schedule:
    def __init__(self, steps, least=16, most=64):
        self.steps, self.least, self.most = steps, least, most

    def tokens(self, step):
        return self.least + (self.most - self.least) * step // (self.steps - 1)


class ViT(nn.Module):
    def __init__(self, width=128, patches=64, kinds=10):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 4, 4)
        self.place = nn.Parameter(torch.zeros(patches, width))
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 4, 256, 0.0, batch_first=True) for _ in range(2))
        self.head = nn.Linear(width, kinds)

    def forward(self, pictures, tokens):
        x = self.patch(pictures).flatten(2).transpose(1, 2) + self.place
        x = x[:, torch.randperm(x.shape[1])[:tokens].to(x.device)]
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=22)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net, schedule = ViT().cuda(), Schedule(args.steps)
    optimizer = torch.optim.AdamW(net.parameters())
    for step in range(args.steps):
        pictures, kinds = torch.rand(32, 3, 32, 32).cuda(), torch.randint(10, (32,)).cuda()  # step
        loss = F.cross_entropy(net(pictures, schedule.tokens(step)), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
