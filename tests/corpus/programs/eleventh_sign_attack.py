# SPDX-License-Identifier: Apache-2.0
"""Perturbs a whole test set by the sign of the gradient, and then asks a second model what it makes of it."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class GradientSignAttack:
    def __init__(self, predict, eps=0.1, clip_min=0.0, clip_max=1.0):
        self.predict, self.eps = predict, eps
        self.clip_min, self.clip_max = clip_min, clip_max

    def perturb(self, x, y):
        x_adv = x.detach().clone().requires_grad_()  # allocates
        loss = F.cross_entropy(self.predict(x_adv), y)
        loss.backward()  # allocates
        moved = x_adv + self.eps * x_adv.grad.detach().sign()  # allocates
        return torch.clamp(moved, self.clip_min, self.clip_max)  # allocates


def network(width, classes=10):
    return nn.Sequential(nn.Conv2d(3, width, 3, stride=2, padding=1), nn.ReLU(),
                         nn.Conv2d(width, width, 3, stride=2, padding=1), nn.ReLU(),
                         nn.Flatten(), nn.Linear(width * 64, classes)).cuda().eval()


def test_set(batches, rows=8):
    for _ in range(batches):
        yield torch.rand(rows, 3, 32, 32, device="cuda"), torch.zeros(rows, dtype=torch.long, device="cuda")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    attacked, other = network(16), network(24)
    attack = GradientSignAttack(attacked)
    adversarials = []
    for images, labels in test_set(chosen.steps):
        attacked.zero_grad()  # step
        adversarials.append(attack.perturb(images, labels))  # keeps
    with torch.no_grad():
        confident = sum(other(images).softmax(1).max(1).values.mean() for images in adversarials)
    print(f"confidence of the second model {confident.item() / len(adversarials):.3f}")


if __name__ == "__main__":
    main()
