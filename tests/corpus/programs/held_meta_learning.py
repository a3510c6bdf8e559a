# SPDX-License-Identifier: Apache-2.0
"""Meta-learning with torch.func: weights adapted to a task are a dictionary that goes with the task."""

import argparse

import torch
from torch import nn
from torch.func import functional_call, grad
from torch.nn import functional as F

def waves(number):
    phase, height = torch.rand(number, 1, 1).cuda(), 1 + torch.rand(number, 1, 1).cuda()
    places = 10 * torch.rand(number, 40, 1).cuda() - 5
    return places, height * torch.sin(places + 3 * phase)


def learner(model, rate=0.01, rounds=3):
    def loss(weights, places, heights):
        return F.mse_loss(functional_call(model, weights, (places,)), heights)

    def adapted(weights, places, heights):
        for _ in range(rounds):
            slopes = grad(loss)(weights, places, heights)
            weights = {name: weight - rate * slopes[name] for name, weight in weights.items()}
        return weights

    def meta_loss(weights, places, heights):
        return loss(adapted(weights, places[:20], heights[:20]), places[20:], heights[20:])

    return meta_loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(1, 80), nn.ReLU(), nn.Linear(80, 80), nn.ReLU(), nn.Linear(80, 1)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    meta_loss, losses = learner(model), []
    for step in range(chosen.steps):
        weights = dict(model.named_parameters())
        total = sum(meta_loss(weights, *task) for task in zip(*waves(4))) / 4
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        losses.append(float(total))
    print(f"loss {losses[-1]:.4f}")


if __name__ == "__main__":
    main()
