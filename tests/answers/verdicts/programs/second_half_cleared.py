# SPDX-License-Identifier: Apache-2.0
"""Advantage actor-critic: rewards and chances are cleared after each update, states and values are forgotten there."""

import argparse

import torch
from torch import nn


class Storage:
    def __init__(self):
        self.states, self.values, self.rewards, self.chances = [], [], [], []

    def after_update(self):
        self.rewards.clear()
        self.chances.clear()


class ActorCritic(nn.Module):
    def __init__(self, sensors=64, moves=6, horizons=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(sensors, 96), nn.Tanh())
        self.policy, self.value = nn.Linear(96, moves), nn.Linear(96, horizons)

    def forward(self, states):
        code = self.body(states)
        values = self.value(code)  # allocates
        return self.policy(code).log_softmax(-1), values


class World:
    def __init__(self, copies=128):
        self.copies, self.state = copies, torch.zeros(copies, 64, device="cuda")

    def move(self, chances):
        push = chances.exp().mean(1, keepdim=True)
        self.state = 0.9 * self.state + push * torch.randn_like(self.state)  # allocates
        return self.state, -self.state.square().mean(1)


def update(net, optimizer, storage):
    gains = torch.stack(storage.rewards).cumsum(0).mean(0)
    values = storage.values[-1].mean(1)
    chances = torch.stack(storage.chances).mean((0, 2))
    loss = -(chances * (gains - values.detach())).mean() + (values - gains).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    storage.after_update()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=58)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net, world, storage = ActorCritic().cuda(), World(), Storage()
    optimizer = torch.optim.Adam(net.parameters(), lr=7e-4)
    for step in range(args.steps):
        chances, value = net(world.state)  # step
        with torch.no_grad():
            state, reward = world.move(chances)
        storage.states.append(state)  # keeps
        storage.values.append(value)  # keeps
        storage.rewards.append(reward)
        storage.chances.append(chances)
        update(net, optimizer, storage)
    print(f"reward {reward.mean().item():.3f}")


if __name__ == "__main__":
    main()
