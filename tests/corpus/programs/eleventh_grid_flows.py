# SPDX-License-Identifier: Apache-2.0
"""A generative flow network on a grid: samples trajectories, and learns from a buffer of earlier ones."""

import argparse
import random

import torch
from torch import nn

LENGTH, HEIGHT, ACTIONS = 12, 16, 3


class Trajectories:
    def __init__(self, states, actions, log_rewards):
        self.states, self.actions, self.log_rewards = states, actions, log_rewards

    def __len__(self):
        return self.actions.shape[1]

    def __getitem__(self, index):
        return Trajectories(self.states[:, index], self.actions[:, index], self.log_rewards[index])

    def extend(self, other):
        self.states = torch.cat([self.states, other.states], dim=1)
        self.actions = torch.cat([self.actions, other.actions], dim=1)
        self.log_rewards = torch.cat([self.log_rewards, other.log_rewards])


class ReplayBuffer:
    def __init__(self, capacity=1000):
        self.capacity = capacity
        self.training_container = None

    def __len__(self):
        return 0 if self.training_container is None else len(self.training_container)

    def add(self, trajectories):
        if self.training_container is None:
            self.training_container = trajectories
        else:
            self.training_container.extend(trajectories)
        self.training_container = self.training_container[-self.capacity:]

    def sample(self, number, rng):
        return self.training_container[torch.tensor(rng.sample(range(len(self)), number), device="cuda")]


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_z = nn.Parameter(torch.zeros(()))
        self.network = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, ACTIONS))

    def forward(self, states):
        return torch.log_softmax(self.network(states / HEIGHT), dim=-1)


@torch.no_grad()
def sample_trajectories(policy, number):
    state = torch.zeros(number, 2, device="cuda")
    moves = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], device="cuda")
    states, actions = [state], []
    for _ in range(LENGTH):
        scores = policy(state)
        noise = -torch.log(-torch.log(torch.rand_like(scores)))
        actions.append((scores + noise).argmax(-1))
        state = (state + moves[actions[-1].clamp(0, ACTIONS - 1)]).clamp(max=HEIGHT - 1)
        states.append(state)
    log_rewards = (state - HEIGHT / 2).abs().sum(-1).neg()
    return Trajectories(torch.stack(states), torch.stack(actions), log_rewards)


def trajectory_balance(policy, trajectories):
    scores = policy(trajectories.states[:-1]).gather(-1, trajectories.actions[..., None])[..., 0]
    return (policy.log_z + scores.sum(0) - trajectories.log_rewards).square().mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=38)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    policy = Policy().cuda()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    buffer = ReplayBuffer()
    for _ in range(chosen.steps):
        optimizer.zero_grad()  # step
        buffer.add(sample_trajectories(policy, chosen.batch))
        loss = trajectory_balance(policy, buffer.sample(chosen.batch, rng))
        loss.backward()
        optimizer.step()
    print(f"{len(buffer)} trajectories, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
