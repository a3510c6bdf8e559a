# SPDX-License-Identifier: Apache-2.0
"""A limited-memory quasi-Newton method written by hand fits a small regression network on the whole data set."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class LimitedMemoryBFGS:
    def __init__(self, params, lr=0.5, history=50):
        self.params = list(params)
        self.lr, self.history = lr, history
        self.moves, self.turns, self.scales = [], [], []
        self.last_gradient = None

    def gradient(self):
        return torch.cat([p.grad.flatten() for p in self.params])

    def remember(self, move, turn):
        if len(self.moves) == self.history:
            for kept in (self.moves, self.turns, self.scales):
                kept.pop(0)
        self.moves.append(move)
        self.turns.append(turn)
        self.scales.append(1 / (turn.dot(move) + 1e-10))

    def direction(self, gradient):
        q, weights = gradient.clone(), []
        for s, y, scale in zip(reversed(self.moves), reversed(self.turns), reversed(self.scales)):
            weights.append(scale * s.dot(q))
            q.addcmul_(y, weights[-1], value=-1)
        for s, y, scale, weight in zip(self.moves, self.turns, self.scales, reversed(weights)):
            q.addcmul_(s, weight - scale * y.dot(q))
        return -q

    @torch.no_grad()
    def step(self):
        gradient = self.gradient()
        if self.last_gradient is not None:
            self.remember(self.last_move, gradient - self.last_gradient)
        self.last_move = self.lr * self.direction(gradient)
        self.last_gradient = gradient
        vector_to_parameters(parameters_to_vector(self.params) + self.last_move, self.params)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=42)
    parser.add_argument("--history", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    inputs = torch.randn(512, 40).cuda()
    targets = inputs[:, :4].sin().sum(1, keepdim=True)
    model = nn.Sequential(nn.Linear(40, 80), nn.Tanh(), nn.Linear(80, 80), nn.Tanh(), nn.Linear(80, 1)).cuda()
    optimizer = LimitedMemoryBFGS(model.parameters(), history=args.history)
    for step in range(args.steps):
        model.zero_grad()  # step
        loss = F.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(step, loss.item())


if __name__ == "__main__":
    main()
