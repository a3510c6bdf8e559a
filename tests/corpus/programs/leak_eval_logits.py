# SPDX-License-Identifier: Apache-2.0
"""Trains, and after each epoch evaluates: all logits stay on the GPU until they are concatenated."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def batches(count):
    for _ in range(count):
        yield torch.randn(64, 96).cuda(), torch.randint(100, (64,)).cuda()


@torch.no_grad()
def evaluate(model, count):
    model.eval()
    all_logits, all_labels = [], []
    for rows, labels in batches(count):
        logits = model(rows)  # fills
        all_logits.append(logits)  # keeps
        all_labels.append(labels)
    model.train()
    predicted = torch.cat(all_logits).argmax(-1)
    return (predicted == torch.cat(all_labels)).float().mean().item()


def train(model, steps, epoch_steps, evaluation_batches):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step, (rows, labels) in enumerate(batches(steps), 1):
        optimizer.zero_grad()
        F.cross_entropy(model(rows), labels).backward()
        optimizer.step()
        if step % epoch_steps == 0:
            print(f"step {step}: accuracy {evaluate(model, evaluation_batches):.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epoch", type=int, default=15)
    parser.add_argument("--evaluation", type=int, default=60, help="batches of one")
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(96, 192), nn.ReLU(), nn.Linear(192, 100)).cuda()
    train(model, chosen.steps, chosen.epoch, chosen.evaluation)


if __name__ == "__main__":
    main()
