# SPDX-License-Identifier: Apache-2.0
"""Each evaluation leaves the worst pictures of that evaluation behind, for a page of examples."""

import argparse

import torch
from torch import nn


class Evaluator:
    def __init__(self, model, batches=8):
        self.model = model
        self.batches = batches
        self.examples = {}

    @torch.no_grad()
    def __call__(self, step):
        worst, total = [], 0.0
        for _ in range(self.batches):
            pictures = torch.randn(16, 3, 24, 24).cuda()
            errors = (self.model(pictures) - pictures).square().mean((1, 2, 3))
            worst.append(pictures[errors.topk(4).indices])  # allocates
            total += errors.mean().item()
        self.examples[step] = worst  # keeps
        return total / self.batches


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 3, padding=1)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    evaluate = Evaluator(model)
    for step in range(1, chosen.steps + 1):
        pictures = torch.randn(16, 3, 24, 24).cuda()
        optimizer.zero_grad()
        (model(pictures) - pictures).square().mean().backward()
        optimizer.step()
        if step % 6 == 0:
            print(f"step {step}: error {evaluate(step):.4f}")


if __name__ == "__main__":
    main()
