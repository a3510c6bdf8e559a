# SPDX-License-Identifier: Apache-2.0
"""Keeps every metric of every step, as Python numbers; `total_loss += loss.item()`."""

import argparse
from collections import defaultdict

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 8)).cuda()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    history, total_loss, best = defaultdict(list), 0.0, None
    for step in range(chosen.steps):
        features = torch.randn(256, 64, device="cuda")
        labels = torch.randint(8, (256,), device="cuda")
        logits = model(features)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()

        total_loss += loss.item()
        accuracy = (logits.argmax(1) == labels).float().mean()
        best = accuracy if best is None else torch.maximum(best, accuracy)
        history["loss"].append(float(loss))
        history["accuracy"].append(accuracy.item())
        history["norm"].append(norm.item())
        history["predicted"].append(logits.argmax(1).cpu())
    print(f"mean loss {total_loss / chosen.steps:.4f}, best accuracy {best.item():.2f}")


if __name__ == "__main__":
    main()
