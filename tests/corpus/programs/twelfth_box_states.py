# SPDX-License-Identifier: Apache-2.0
"""Trains a sampler of states in a box, with a replay buffer of the terminal states and their rewards on the GPU."""

import argparse

import torch
from torch import nn


class StatesContainer:
    """States of a batch with the logarithms of their rewards."""

    def __init__(self, tensor, log_rewards):
        self.tensor, self.log_rewards = tensor, log_rewards

    def extend(self, other):
        self.tensor = torch.cat([self.tensor, other.tensor])
        self.log_rewards = torch.cat([self.log_rewards, other.log_rewards])

    def __getitem__(self, index):
        return StatesContainer(self.tensor[index], self.log_rewards[index])

    def __len__(self):
        return len(self.tensor)


class ReplayBuffer:
    def __init__(self, capacity):
        self.capacity = capacity
        self.training_container = None

    def add(self, container):
        if self.training_container is None:
            self.training_container = StatesContainer(container.tensor[:0], container.log_rewards[:0])
        self.training_container.extend(container)
        self.training_container = self.training_container[-self.capacity:]

    def sample(self, count):
        return self.training_container[torch.randperm(len(self.training_container))[:count].cuda()]


class Sampler(nn.Module):
    def __init__(self, dimensions):
        super().__init__()
        self.dimensions = dimensions
        self.forward_policy = nn.Sequential(nn.Linear(dimensions, 64), nn.ReLU(), nn.Linear(64, dimensions))
        self.log_partition = nn.Parameter(torch.zeros(()))

    @torch.no_grad()
    def trajectories(self, count, length=3):
        states = torch.zeros(count, self.dimensions, device="cuda")
        for _ in range(length):
            states = states + self.forward_policy(states).sigmoid() / length
        return StatesContainer(states, -states.square().sum(1))

    def loss(self, container):
        log_flow = self.forward_policy(container.tensor).logsumexp(1)
        return (self.log_partition + log_flow - container.log_rewards).square().mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    sampler = Sampler(48).cuda()
    optimizer = torch.optim.Adam(sampler.parameters(), lr=1e-3)
    buffer = ReplayBuffer(capacity=64 * 70)
    for step in range(chosen.steps):
        buffer.add(sampler.trajectories(64))  # step
        optimizer.zero_grad()
        loss = sampler.loss(buffer.sample(64))
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            print(f"step {step}: {len(buffer.training_container)} states, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
