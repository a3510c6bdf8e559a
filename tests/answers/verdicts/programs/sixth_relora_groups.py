# SPDX-License-Identifier: Apache-2.0
"""ReLoRA: every few steps the low-rank factors are merged into the frozen weight and begin anew."""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


class ReLoRALinear(nn.Module):
    def __init__(self, inputs, outputs, rank=32, scale=2.0):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs), requires_grad=False)
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        self.rank, self.scale = rank, scale
        self.restart()

    def restart(self):
        outputs, inputs = self.weight.shape
        self.a = nn.Parameter(torch.randn(self.rank, inputs, device=self.weight.device) / self.rank)  # allocates
        self.b = nn.Parameter(torch.zeros(outputs, self.rank, device=self.weight.device))  # allocates

    @torch.no_grad()
    def merge(self):
        self.weight += self.scale * (self.b @ self.a)
        self.restart()

    def forward(self, x):
        return F.linear(x, self.weight) + self.scale * F.linear(F.linear(x, self.a), self.b)


class LanguageModel(nn.Module):
    def __init__(self, vocabulary=600, width=128):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width).requires_grad_(False)
        self.up, self.down = ReLoRALinear(width, 2 * width), ReLoRALinear(2 * width, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = x + self.down(F.gelu(self.up(x)))
        return self.head(x)


def merge_and_restart(model, optimizer):
    for module in model.modules():
        if isinstance(module, ReLoRALinear):
            module.merge()
            optimizer.add_param_group({"params": [module.a, module.b]})  # keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--restart-every", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = LanguageModel().cuda()
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-3)
    for step in range(args.steps):
        tokens = torch.randint(0, 600, (8, 33)).cuda()  # step
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # allocates
        if (step + 1) % args.restart_every == 0:
            merge_and_restart(model, optimizer)
    print("loss", loss.item())


if __name__ == "__main__":
    main()
