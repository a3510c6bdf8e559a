# SPDX-License-Identifier: Apache-2.0
"""Meta-learning through the inner steps of each task, of which there are more and more until the last stage."""

import argparse

import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F


class Regressor(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                                    nn.Linear(width, 1))

    def forward(self, x):
        return self.layers(x)


class InnerSteps:
    """One to begin with, another with every stage, up to the most."""

    def __init__(self, every, most):
        self.every = every
        self.most = most

    def __call__(self, step):
        return min(1 + step // self.every, self.most)


class SineTask:
    def __init__(self):
        self.amplitude = 0.1 + 4.9 * torch.rand(())
        self.phase = torch.pi * torch.rand(())

    def draw(self, count):
        x = 10 * torch.rand(count, 1) - 5
        return x.cuda(), (self.amplitude * torch.sin(x + self.phase)).cuda()


def adapt(model, task, inner_steps, rate=0.01):
    weights, path = dict(model.named_parameters()), []
    for _ in range(inner_steps):
        x, y = task.draw(64)
        loss = F.mse_loss(functional_call(model, weights, x), y)
        gradients = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
        weights = {name: weight - rate * gradient for (name, weight), gradient in zip(weights.items(), gradients)}
        path.append(weights)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model, inner_steps = Regressor().cuda(), InnerSteps(every=8, most=6)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        task = SineTask()  # step
        path = adapt(model, task, inner_steps(step))
        x, y = task.draw(64)
        # The loss after each inner step counts, the last most (MAML++).
        importance = torch.softmax(torch.arange(len(path)).float(), 0).tolist()
        losses = [F.mse_loss(functional_call(model, weights, x), y) for weights in path]
        loss = sum(share * one for share, one in zip(importance, losses))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
