# SPDX-License-Identifier: Apache-2.0
"""Moves a base image towards a target image in feature space, by forward and backward splitting."""

import argparse

import torch
from torch import nn


def forward_step(model, image, target_features, rate):
    image = image.detach()
    image.requires_grad_()
    with torch.enable_grad():
        loss = torch.norm(model(image) - target_features)
    gradient, = torch.autograd.grad(loss, [image])
    return image - rate * gradient


def backward_step(image, base, rate, beta):
    perturbed = (image + rate * beta * base) / (1 + beta * rate)  # allocates
    return torch.clamp(perturbed, 0, 1)  # allocates


class Attack:
    def __init__(self, model, target, beta=0.25, rate=0.5, window=6):
        self.model, self.beta, self.rate, self.window = model, beta, rate, window
        self.target_features = model(target).detach()

    def objective(self, image, base):
        features = self.model(image).detach()
        return torch.linalg.norm(features - self.target_features) + self.beta * torch.linalg.norm(image - base)

    def perturb(self, base, iterations):
        old_image = base
        last_objectives = [self.objective(base, base)]
        for iteration in range(iterations):
            new_image = forward_step(self.model, old_image, self.target_features, self.rate)  # step
            new_image = backward_step(new_image, old_image, self.rate, self.beta)
            new_objective = self.objective(new_image, base)
            # A rate that falls with time: the mean of the last objectives says little in so short a run.
            if iteration % self.window == self.window - 1:
                self.rate *= 0.9
            old_image = new_image  # keeps
            if len(last_objectives) == self.window:
                del last_objectives[0]
            last_objectives.append(new_objective)
        return old_image, last_objectives[-1].item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Conv2d(3, 16, 5, stride=3), nn.ReLU(), nn.Conv2d(16, 32, 5, stride=3), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(2), nn.Flatten()).cuda().eval()
    target = torch.rand(1, 3, 96, 96, device="cuda")
    base = torch.rand(1, 3, 96, 96, device="cuda")
    poisoned, objective = Attack(model, target).perturb(base, chosen.steps)
    print(f"{tuple(poisoned.shape)} at {objective:.4f}")


if __name__ == "__main__":
    main()
