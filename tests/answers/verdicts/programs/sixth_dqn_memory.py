# SPDX-License-Identifier: Apache-2.0
"""DQN on 32 games at once; what was seen is replayed from a memory on the GPU."""

import argparse
import copy
import random

import torch
import torch.nn.functional as F
from torch import nn


class ReplayMemory:
    def __init__(self, capacity):
        self.capacity = capacity
        self.memory = []
        self.position = 0

    def push(self, *transition):
        if len(self.memory) < self.capacity:
            self.memory.append(transition)
        else:
            self.memory[self.position] = transition
        self.position = (self.position + 1) % self.capacity

    def sample(self, count):
        return [torch.cat(parts) for parts in zip(*random.sample(self.memory, count))]


class Games:
    def __init__(self, count):
        self.count = count

    def observe(self):
        return torch.rand(self.count, 1, 28, 28).cuda()

    def act(self, actions):
        return self.observe(), torch.randn(self.count).cuda(), (torch.rand(self.count) < 0.05).float().cuda()


class Learner:
    def __init__(self, actions=4, gamma=0.99, capacity=20):
        self.online = nn.Sequential(nn.Conv2d(1, 8, 4, stride=2), nn.ReLU(), nn.Flatten(),
                                    nn.Linear(8 * 13 * 13, actions)).cuda()
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-4)
        self.memory, self.gamma = ReplayMemory(capacity), gamma

    def learn(self):
        state, action, reward, following, done = self.memory.sample(2)
        value = self.online(state).gather(1, action.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            wanted = reward + self.gamma * (1 - done) * self.target(following).amax(1)
        loss = F.smooth_l1_loss(value, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    games, learner = Games(32), Learner()
    state = games.observe()
    for step in range(args.steps):
        explore = torch.rand(32).cuda()  # step
        with torch.no_grad():
            greedy = learner.online(state).argmax(1)
        action = torch.where(explore < 0.1, torch.randint(0, 4, (32,)).cuda(), greedy)
        following, reward, done = games.act(action)
        learner.memory.push(state, action, reward, following, done)
        state = following
        if len(learner.memory.memory) >= 4:
            learner.learn()
        if step % 10 == 9:
            learner.target.load_state_dict(learner.online.state_dict())


if __name__ == "__main__":
    main()
