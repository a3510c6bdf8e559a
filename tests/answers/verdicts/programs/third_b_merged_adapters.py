# SPDX-License-Identifier: Apache-2.0
"""Low-rank adapters of eight tasks: the weights with one merged in are kept until it is trained again."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

TASKS = ("sum", "ask", "tag", "mark", "rank", "fill", "name", "sort")


class Adapted(nn.Module):
    def __init__(self, width=256, rank=8):
        super().__init__()
        self.base = nn.Linear(width, width).requires_grad_(False)
        self.down = nn.ParameterDict({task: nn.Parameter(torch.randn(rank, width) * 0.02) for task in TASKS})
        self.up = nn.ParameterDict({task: nn.Parameter(torch.zeros(width, rank)) for task in TASKS})
        self.merged = {}

    def forward(self, rows, task):
        if self.training:
            self.merged.pop(task, None)
            return self.base(rows) + F.linear(F.linear(rows, self.down[task]), self.up[task])
        if task not in self.merged:
            self.merged[task] = self.base.weight + self.up[task] @ self.down[task]
        return F.linear(rows, self.merged[task], self.base.bias)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=19)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Adapted().cuda()
    optimizer = torch.optim.AdamW([one for one in model.parameters() if one.requires_grad], lr=1e-3)
    for step in range(args.steps):
        rows = torch.randn(48, 256, device="cuda")  # step
        task = TASKS[step // 2 % len(TASKS)]
        model.train()
        optimizer.zero_grad()
        model(rows, task).square().mean().backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            model(rows, task).mean().item()
    print(f"{len(model.merged)} merged")


if __name__ == "__main__":
    main()
