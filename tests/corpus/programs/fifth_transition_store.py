# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning on 16 games at once, with a replay memory."""

import argparse
import random
from collections import namedtuple

import torch
import torch.nn.functional as F
from torch import nn

Transition = namedtuple("Transition", "state action reward next_state")


class ReplayMemory:
    def __init__(self, capacity):
        self.capacity = capacity
        self.memory = []
        self.position = 0

    def push(self, *parts):
        self.memory.append(Transition(*parts))  # keeps
        self.position = (self.position + 1) % self.capacity

    def sample(self, count):
        return random.sample(self.memory, min(count, len(self.memory)))


class Games:
    """Stands in for a vector of Atari games: frames of 42 by 42, four of them stacked."""

    def __init__(self, count):
        self.count = count

    def observe(self):
        frames = torch.rand(self.count, 4, 42, 42)
        return frames.cuda()  # allocates

    def step(self, action):
        return self.observe(), torch.rand(self.count).cuda()


def network():
    return nn.Sequential(nn.Conv2d(4, 8, 8, stride=4), nn.ReLU(), nn.Conv2d(8, 16, 4, stride=2), nn.ReLU(),
                         nn.Flatten(), nn.Linear(16 * 3 * 3, 64), nn.ReLU(), nn.Linear(64, 6)).cuda()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--capacity", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    games, memory = Games(16), ReplayMemory(args.capacity)
    online, target = network(), network()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.RMSprop(online.parameters(), lr=1e-4)
    state = games.observe()
    for step in range(args.steps):
        action = torch.randint(6, (16,)).cuda()  # step
        next_state, reward = games.step(action)
        memory.push(state, action, reward, next_state)
        state = next_state
        loss = 0.0
        for one in memory.sample(2):
            with torch.no_grad():
                wanted = one.reward + 0.99 * target(one.next_state).max(1).values
            value = online(one.state).gather(1, one.action[:, None])[:, 0]
            loss = loss + F.smooth_l1_loss(value, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            target.load_state_dict(online.state_dict())


if __name__ == "__main__":
    main()
