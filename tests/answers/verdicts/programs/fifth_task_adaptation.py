# SPDX-License-Identifier: Apache-2.0
"""Model-agnostic meta-learning: four tasks a step, two inner steps each."""

import argparse

import torch
import torch.nn.functional as F


class Maml:
    def __init__(self, inputs=256, hidden=128, ways=5, inner_lr=0.01):
        self.weights = [torch.randn(hidden, inputs).mul_(0.05).cuda().requires_grad_(),
                        torch.zeros(hidden).cuda().requires_grad_(),
                        torch.randn(ways, hidden).mul_(0.05).cuda().requires_grad_(),
                        torch.zeros(ways).cuda().requires_grad_()]
        self.inner_lr = inner_lr
        self.adapted = []

    @staticmethod
    def forward(x, weights):
        return F.linear(F.relu(F.linear(x, weights[0], weights[1])), weights[2], weights[3])

    def adapt(self, x, y, steps=2):
        fast = self.weights
        for _ in range(steps):
            loss = F.cross_entropy(self.forward(x, fast), y)
            gradients = torch.autograd.grad(loss, fast, create_graph=True)
            fast = [w - self.inner_lr * g for w, g in zip(fast, gradients)]  # allocates
        self.adapted.append(fast)  # keeps
        return fast

    def drift(self):
        """How far the task adapted last is from the common weights."""
        return sum((a - w).norm() for a, w in zip(self.adapted[-1], self.weights)).detach()


def episode():
    return torch.randn(10, 256).cuda(), torch.arange(5).repeat(2).cuda()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=17)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    maml = Maml()
    optimizer = torch.optim.Adam(maml.weights, lr=1e-3)
    for step in range(args.steps):
        outer = 0.0  # step
        for _ in range(4):
            fast = maml.adapt(*episode())
            x, y = episode()
            outer = outer + F.cross_entropy(maml.forward(x, fast), y)
        optimizer.zero_grad()
        outer.backward()
        optimizer.step()
        print(step, float(maml.drift()))


if __name__ == "__main__":
    main()
