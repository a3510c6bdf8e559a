# SPDX-License-Identifier: Apache-2.0
"""A student gets another block every eight steps, up to five, while a teacher that does not change tells it what to
say."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, rows):
        return rows + self.down(F.gelu(self.up(self.norm(rows))))


class Student(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.enter, self.blocks, self.head = nn.Linear(30, width), nn.ModuleList([Block(width)]), nn.Linear(width, 50)

    def deepen(self):
        block = Block(96).cuda()
        nn.init.zeros_(block.down.weight)
        self.blocks.append(block)
        return block.parameters()

    def forward(self, rows):
        rows = self.enter(rows)
        for block in self.blocks:
            rows = block(rows)
        return self.head(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    teacher = nn.Sequential(nn.Linear(30, 500), nn.ReLU(), nn.Linear(500, 50)).cuda().requires_grad_(False)
    student = Student().cuda()
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
    for step in range(args.steps):
        rows = torch.randn(64, 30).cuda()  # step
        if step % 8 == 7 and len(student.blocks) < 5:
            optimizer.add_param_group({"params": list(student.deepen())})
        loss = F.kl_div(student(rows).log_softmax(-1), teacher(rows).softmax(-1), reduction="batchmean")
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    print(f"{len(student.blocks)} blocks")


if __name__ == "__main__":
    main()
