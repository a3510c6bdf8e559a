# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning whose replay buffer has no bound and lives on the GPU."""

import argparse
import random
from collections import namedtuple

import torch
from torch import nn

Transition = namedtuple("Transition", "state action reward next_state")


class Environment:
    """Frames of a game, already on the GPU, four of them stacked."""

    def __init__(self, seed):
        self.drawn = torch.Generator(device="cuda").manual_seed(seed)

    def frames(self):
        return torch.rand(4, 42, 42, device="cuda", generator=self.drawn)  # allocates


class Agent:
    def __init__(self, seed):
        self.network = nn.Sequential(
            nn.Conv2d(4, 16, 8, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 81, 128), nn.ReLU(),
            nn.Linear(128, 4),
        ).cuda()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-4)
        self.memory, self.rng = [], random.Random(seed)

    def remember(self, *transition):
        self.memory.append(Transition(*transition))  # keeps

    def learn(self, batch=32):
        sample = self.rng.choices(self.memory, k=batch)
        states = torch.stack([one.state for one in sample])
        following = torch.stack([one.next_state for one in sample])
        actions = torch.tensor([one.action for one in sample], device="cuda")
        rewards = torch.tensor([one.reward for one in sample], device="cuda")
        with torch.no_grad():
            target = rewards + 0.99 * self.network(following).max(1).values
        value = self.network(states).gather(1, actions[:, None])[:, 0]
        loss = nn.functional.smooth_l1_loss(value, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    environment, agent = Environment(chosen.seed), Agent(chosen.seed)
    state = environment.frames()
    for step in range(chosen.steps):
        for _ in range(4):
            following = environment.frames()
            agent.remember(state, agent.rng.randrange(4), agent.rng.random(), following)
            state = following
        agent.learn()


if __name__ == "__main__":
    main()
