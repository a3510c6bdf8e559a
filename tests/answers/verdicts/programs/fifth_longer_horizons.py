# SPDX-License-Identifier: Apache-2.0
"""A world model that learns to imagine further ahead as training goes on."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Horizon:
    """Linear from the first to the last horizon."""

    def __init__(self, first, last, every):
        self.first, self.last, self.every = first, last, every

    def at(self, step):
        return min(self.first + step // self.every, self.last)


class WorldModel(nn.Module):
    def __init__(self, observed=128, latent=256, actions=8):
        super().__init__()
        self.encode = nn.Linear(observed, latent)
        self.move = nn.GRUCell(actions, latent)
        self.decode = nn.Linear(latent, observed)

    def imagine(self, observation, actions):
        state, seen = torch.tanh(self.encode(observation)), []
        for action in actions:
            state = self.move(action, state)
            seen.append(self.decode(state))
        return seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=34)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model, horizon = WorldModel().cuda(), Horizon(first=2, last=18, every=3)
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-4)
    for step in range(args.steps):
        length = horizon.at(step)  # step
        observations = torch.randn(length + 1, 64, 128).cuda()
        actions = F.one_hot(torch.randint(8, (length, 64)), 8).float().cuda()
        imagined = model.imagine(observations[0], actions)
        loss = sum(F.mse_loss(one, real) for one, real in zip(imagined, observations[1:])) / length
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
