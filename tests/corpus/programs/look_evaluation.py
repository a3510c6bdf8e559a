# SPDX-License-Identifier: Apache-2.0
"""Evaluates every few steps on batches larger than those of training; its outputs go afterwards."""

import argparse

import torch
from torch import nn


@torch.no_grad()
def evaluate(model, batches=6):
    model.eval()
    logits, labels = [], []
    for _ in range(batches):
        logits.append(model(torch.randn(256, 128, device="cuda")))  # fills
        labels.append(torch.randint(50, (256,), device="cuda"))  # fills
    right = torch.cat(logits).argmax(1) == torch.cat(labels)
    model.train()
    return right.float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 50)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    accuracies = []
    for step in range(chosen.steps):
        features = torch.randn(32, 128, device="cuda")
        labels = torch.randint(50, (32,), device="cuda")
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % 5 == 0:
            accuracies.append(evaluate(model))
    print(f"best accuracy {max(accuracies):.2f}")


if __name__ == "__main__":
    main()
