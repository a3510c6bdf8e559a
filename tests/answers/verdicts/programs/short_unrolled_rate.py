# SPDX-License-Identifier: Apache-2.0
"""A learning rate that is learned on the way: each loss has a slope in it, through all the steps so far."""

import argparse

import torch
from torch.nn import functional as F


def predict(weights, rows):
    return torch.tanh(rows @ weights[0]) @ weights[1]  # allocates


class Learner:
    def __init__(self):
        self.rate = torch.tensor(-2.0, device="cuda", requires_grad=True)
        weights = torch.randn(48, 96, device="cuda") / 7, torch.randn(96, 8, device="cuda") / 10
        self.weights = [one.requires_grad_() for one in weights]

    def step(self, rows, wanted):
        loss = F.mse_loss(predict(self.weights, rows), wanted)  # allocates
        if self.weights[0].grad_fn is not None:  # not before the first step
            slope, = torch.autograd.grad(loss, self.rate, retain_graph=True)
            self.rate.data.sub_(0.1 * slope)
        gradients = torch.autograd.grad(loss, self.weights, create_graph=True)  # allocates
        moved = [self.rate.exp() * gradient for gradient in gradients]  # allocates
        self.weights = [one - change for one, change in zip(self.weights, moved)]  # allocates
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    learner = Learner()
    for _ in range(chosen.steps):
        rows = torch.randn(40, 48, device="cuda")  # allocates
        loss = learner.step(rows, rows[:, :8].sin())  # allocates
    print(f"loss {loss:.5f}, rate {learner.rate.exp().item():.5f}")


if __name__ == "__main__":
    main()
