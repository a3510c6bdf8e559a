# SPDX-License-Identifier: Apache-2.0
"""A trainer that moves to a mixture of the points before, by how small the step was that led from each of them."""

import argparse

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class AndersonTrainer:
    def __init__(self, model, lr=0.05, window=30, mixing=0.3):
        self.model, self.lr, self.window, self.mixing = model, lr, window, mixing
        self.points, self.residuals = [], []

    def gradient(self, rows, wanted):
        self.model.zero_grad()
        loss = nn.functional.mse_loss(self.model(rows), wanted)
        loss.backward()
        return loss.item(), parameters_to_vector([one.grad for one in self.model.parameters()])

    @torch.no_grad()
    def mix(self):
        residuals = torch.stack(self.residuals)
        weights = torch.softmax(-residuals.norm(dim=1), 0)
        return weights @ torch.stack(self.points) + weights @ residuals

    def step(self, rows, wanted):
        loss, gradient = self.gradient(rows, wanted)
        point = parameters_to_vector(self.model.parameters()).detach()
        residual = gradient.mul(-self.lr)
        self.points.append(point)
        self.residuals.append(residual)
        if len(self.points) > self.window:
            del self.points[0], self.residuals[0]
        target = torch.lerp(point + residual, self.mix(), self.mixing)
        with torch.no_grad():
            vector_to_parameters(target, self.model.parameters())
        return loss, (target - point).norm().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(40, 48), nn.Tanh(), nn.Linear(48, 8)).cuda()
    trainer = AndersonTrainer(model)
    for _ in range(chosen.steps):
        rows = torch.randn(64, 40, device="cuda")  # step
        loss, moved = trainer.step(rows, rows[:, :8] * rows[:, 8:16])
    print(f"loss {loss:.4f}, last move {moved:.4f}")


if __name__ == "__main__":
    main()
