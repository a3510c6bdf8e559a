# SPDX-License-Identifier: Apache-2.0
"""Model-agnostic meta learning of a regression; after each outer step one new task tells what adaptation gains."""

import argparse

import torch

INPUTS, HIDDEN, SHOTS = 4, 64, 20


def initial_weights():
    first = torch.randn(INPUTS, HIDDEN, device="cuda") * 0.3
    second = torch.randn(HIDDEN, 1, device="cuda") * 0.1
    weights = [first, torch.zeros(HIDDEN, device="cuda"), second, torch.zeros(1, device="cuda")]
    return [weight.requires_grad_() for weight in weights]


def predict(weights, x):
    hidden = torch.tanh(x @ weights[0] + weights[1])  # allocates
    return hidden @ weights[2] + weights[3]


def error_of(weights, x, y):
    difference = predict(weights, x) - y  # allocates
    return difference.square().mean()


def adapt(weights, x, y, rate=0.05, moves=2, second_order=True):
    for _ in range(moves):
        slopes = torch.autograd.grad(error_of(weights, x, y), weights, create_graph=second_order)
        weights = [weight - rate * slope for weight, slope in zip(weights, slopes)]  # allocates
    return weights


class Task:
    def __init__(self):
        self.phase, self.slope = torch.rand(1).item(), torch.randn(INPUTS, 1)

    def draw(self):
        x = torch.randn(SHOTS, INPUTS)
        y = torch.sin(x @ self.slope + self.phase)
        return x.cuda(), y.cuda()  # allocates


def outer_step(weights, optimizer, tasks=3):
    optimizer.zero_grad()
    for task in [Task() for _ in range(tasks)]:
        fast = adapt(weights, *task.draw())
        (error_of(fast, *task.draw()) / tasks).backward()
    optimizer.step()


def gain(weights):
    task = Task()
    query = task.draw()
    fast = adapt(weights, *task.draw(), second_order=False)
    return error_of(weights, *query) - error_of(fast, *query)  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    weights = initial_weights()
    optimizer = torch.optim.Adam(weights, lr=1e-3)
    curve = []
    for _ in range(chosen.steps):
        outer_step(weights, optimizer)  # step
        curve.append(gain(weights))  # keeps
    print("gain by adaptation:", " ".join(f"{float(value):.3f}" for value in curve[-5:]))


if __name__ == "__main__":
    main()
