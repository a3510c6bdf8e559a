# SPDX-License-Identifier: Apache-2.0
"""Learns a world model and a policy from episodes of a small control task, one new episode before each update."""

import argparse
import random
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional

STATE, ACTIONS, LENGTH = 16, 4, 12


class Episode(NamedTuple):
    states: torch.Tensor
    actions: torch.Tensor
    rewards: torch.Tensor


class EpisodeStore:
    def __init__(self, capacity, rng):
        self.capacity, self.rng = capacity, rng
        self.episodes = []

    def add(self, episode):
        self.episodes.append(episode)  # keeps
        self.trim(self.episodes)

    def trim(self, episodes):
        """The newest `capacity` of them."""
        if len(episodes) > self.capacity:
            episodes = episodes[-self.capacity:]
        return episodes

    def sample(self, count):
        drawn = [self.rng.choice(self.episodes) for _ in range(count)]
        return Episode(*(torch.cat(field) for field in zip(*drawn)))


class Pendulum:
    def __init__(self, rng):
        self.rng = rng
        self.state = torch.randn(STATE)

    def move(self, action):
        self.state = 0.9 * self.state + 0.1 * (action - 1.5) + 0.05 * torch.randn(STATE)
        return -self.state.square().mean().item()


def play(policy, rng):
    world, states, actions, rewards = Pendulum(rng), [], [], []
    for _ in range(LENGTH):
        state = world.state.cuda()
        with torch.no_grad():
            best = int(policy(state).argmax())
        action = best if rng.random() > 0.2 else rng.randrange(ACTIONS)
        states.append(state)
        actions.append(min(action, ACTIONS - 1))
        rewards.append(world.move(action))
    stacked = torch.stack(states)  # allocates
    return Episode(stacked, torch.tensor(actions, device="cuda"), torch.tensor(rewards, device="cuda"))  # allocates


def update(model, policy, optimizer, batch):
    moves = functional.one_hot(batch.actions, ACTIONS).float()
    predicted = model(torch.cat([batch.states, moves], dim=1))
    loss = (predicted[:-1, :STATE] - batch.states[1:]).square().mean()
    loss = loss + (predicted[:, STATE] - batch.rewards).square().mean()
    logp = torch.log_softmax(policy(batch.states), dim=1)
    loss = loss - (logp * moves).sum(1).mul(predicted[:, STATE].detach()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    policy = nn.Sequential(nn.Linear(STATE, 64), nn.Tanh(), nn.Linear(64, ACTIONS)).cuda()
    model = nn.Sequential(nn.Linear(STATE + ACTIONS, 96), nn.ELU(), nn.Linear(96, STATE + 1)).cuda()
    optimizer = torch.optim.Adam([*policy.parameters(), *model.parameters()], lr=1e-3)
    store = EpisodeStore(capacity=10, rng=rng)
    for _ in range(chosen.steps):
        store.add(play(policy, rng))  # step
        update(model, policy, optimizer, store.sample(4))
    print("last return:", float(store.episodes[-1].rewards.sum()))


if __name__ == "__main__":
    main()
