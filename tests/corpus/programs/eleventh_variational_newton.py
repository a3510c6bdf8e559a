# SPDX-License-Identifier: Apache-2.0
"""A variational Gauss-Newton optimizer: weights drawn about a mean, with a precision from squared activations."""

import argparse

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class Net(nn.Module):
    """Hands out the inputs of its layers and their linear combinations."""

    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in zip(sizes, sizes[1:], strict=False))

    def forward(self, x):
        inputs, combinations = [], []
        for number, layer in enumerate(self.layers):
            inputs.append(x)
            combination = layer(x)
            combinations.append(combination)
            x = torch.tanh(combination) if number + 1 < len(self.layers) else combination  # allocates
        return x, inputs, combinations


class GaussNewton:
    def __init__(self, parameters, rows, prior=1.0, rate=0.01, decay=0.9):
        self.parameters = list(parameters)
        self.rows, self.prior, self.rate, self.decay = rows, prior, rate, decay
        mean = parameters_to_vector(self.parameters).detach()
        self.state = {"mean": mean, "precision": torch.full_like(mean, 10.0)}

    def step(self, closure):
        mean, precision = self.state["mean"], self.state["precision"]
        drawn = mean + torch.randn_like(mean) / precision.sqrt()
        vector_to_parameters(drawn.detach(), self.parameters)
        loss, inputs, combinations = closure()
        gradients = torch.autograd.grad(loss, combinations)
        slopes, curves = [], []
        for entered, gradient in zip(inputs, gradients, strict=True):
            slopes.append((gradient.detach().T @ entered.detach()).flatten())
            squares = gradient.square().T  # allocates
            curves.append((squares @ entered.square()).flatten())
        slope, curve = torch.cat(slopes), self.rows * torch.cat(curves)
        precision = self.decay * precision + (1 - self.decay) * (curve + self.prior)
        towards = (self.rows * slope + self.prior * mean) / precision.detach()
        self.state["precision"] = precision  # keeps
        self.state["mean"] = mean - self.rate * towards
        vector_to_parameters(self.state["mean"], self.parameters)
        return loss


def batch():
    return torch.randn(128, 24, device="cuda")  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Net((24, 64, 64, 1)).cuda()
    optimizer = GaussNewton(model.parameters(), rows=128)
    for _ in range(chosen.steps):
        rows = batch()  # step

        def closure(rows=rows):
            guess, inputs, combinations = model(rows)
            return (guess - rows.sum(1, keepdim=True)).square().mean(), inputs, combinations

        loss = optimizer.step(closure)
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
