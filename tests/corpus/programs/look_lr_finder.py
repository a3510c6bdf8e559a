# SPDX-License-Identifier: Apache-2.0
"""Looks for a learning rate first, on a copy of the state that is put back before training."""

import argparse
import copy

import torch
from torch import nn


def train_step(model, optimizer):
    features = torch.randn(64, 200, device="cuda")
    loss = nn.functional.mse_loss(model(features), features)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def find_learning_rate(model, optimizer, steps):
    kept = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())
    rates, losses = [], []
    for number in range(steps):
        rates.append(1e-6 * 10 ** (6 * number / steps))
        for group in optimizer.param_groups:
            group["lr"] = rates[-1]
        losses.append(train_step(model, optimizer))
    model.load_state_dict(kept[0])
    optimizer.load_state_dict(kept[1])
    return rates[min(range(steps), key=losses.__getitem__)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(200, 1024), nn.ReLU(), nn.Linear(1024, 200)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    search = chosen.steps // 5
    rate = find_learning_rate(model, optimizer, search)
    for group in optimizer.param_groups:
        group["lr"] = rate
    for _ in range(chosen.steps - search):
        train_step(model, optimizer)


if __name__ == "__main__":
    main()
