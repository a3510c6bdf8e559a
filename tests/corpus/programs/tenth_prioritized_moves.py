# SPDX-License-Identifier: Apache-2.0
"""Learns to act by double Q-learning from moves that a sum tree draws in proportion to their priorities."""

import argparse
import random

import torch
from torch import nn


class SumTree:
    def __init__(self, capacity):
        self.capacity = capacity
        self.tree = [0.0] * (2 * capacity - 1)
        self.data = [None] * capacity
        self.write = 0
        self.n_entries = 0

    def update(self, index, priority):
        change = priority - self.tree[index]
        self.tree[index] = priority
        while index:
            index = (index - 1) // 2
            self.tree[index] += change

    def add(self, priority, move):
        self.data[self.write] = move
        self.update(self.write + self.capacity - 1, priority)
        self.write = (self.write + 1) % self.capacity
        self.n_entries = min(self.n_entries + 1, self.capacity)

    def get(self, value):
        index = 0
        while 2 * index + 1 < len(self.tree):
            left = 2 * index + 1
            if value > self.tree[left] and self.tree[left + 1] > 0:
                value, index = value - self.tree[left], left + 1
            else:
                index = left
        return self.data[index - self.capacity + 1]


class Agent:
    def __init__(self, seed, capacity=60, batch=8):
        self.net, self.target = self.network(), self.network()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.memory, self.batch = SumTree(capacity), batch
        self.draws = random.Random(seed)

    @staticmethod
    def network():
        return nn.Sequential(nn.Flatten(), nn.Linear(4 * 24 * 24, 64), nn.ReLU(), nn.Linear(64, 4)).cuda()

    def remember(self, state, action, reward, next_state):
        self.memory.add((abs(reward) + 0.01) ** 0.6, (state, action, reward, next_state))

    def learn(self):
        if self.memory.n_entries < self.batch:
            return
        part = self.memory.tree[0] / self.batch
        moves = [self.memory.get(part * (place + self.draws.random())) for place in range(self.batch)]
        states, next_states = torch.stack([move[0] for move in moves]), torch.stack([move[3] for move in moves])
        actions = torch.tensor([move[1] for move in moves], device="cuda")
        rewards = torch.tensor([move[2] for move in moves], device="cuda")
        with torch.no_grad():
            best = self.net(next_states).argmax(1, keepdim=True)
            wanted = rewards + 0.99 * self.target(next_states).gather(1, best).squeeze(1)
        error = self.net(states).gather(1, actions[:, None]).squeeze(1) - wanted
        self.optimizer.zero_grad()
        error.square().mean().backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    agent, world = Agent(chosen.seed), random.Random(chosen.seed + 1)
    state = torch.rand(4, 24, 24, device="cuda")
    for _ in range(chosen.steps):
        action, reward = world.randrange(4), world.uniform(-1, 1)  # step
        next_state = torch.rand(4, 24, 24, device="cuda")
        agent.remember(state, action, reward, next_state)
        agent.learn()
        state = next_state
    print(f"{agent.memory.n_entries} moves, priorities {agent.memory.tree[0]:.2f}")


if __name__ == "__main__":
    main()
