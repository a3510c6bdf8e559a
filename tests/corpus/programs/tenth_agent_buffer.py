# SPDX-License-Identifier: Apache-2.0
"""A deep Q-network agent: it acts, puts what it saw into its buffer, and learns from samples of it."""

import argparse
import copy
import random

import torch
from torch import nn


class Experience:
    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)


class ReplayBuffer:
    keys = ("state", "action", "reward", "next_state", "done")

    def __init__(self, batch_size, buffer_size, seed):
        self.batch_size, self.buffer_size = batch_size, buffer_size
        self.data = []
        self._rng = random.Random(seed)

    def __len__(self):
        return len(self.data)

    def add(self, **kwargs):
        self.data.append(Experience(**kwargs))
        if len(self.data) > self.buffer_size:
            self.data.pop(0)

    def sample(self):
        sampled = self._rng.sample(self.data, self.batch_size)
        return {key: [getattr(one, key) for one in sampled] for key in self.keys}


class Agent:
    def __init__(self, states, actions, seed):
        self.net = nn.Sequential(nn.Linear(states, 64), nn.ReLU(), nn.Linear(64, actions)).cuda()
        self.target_net = copy.deepcopy(self.net)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=3e-4)
        self.buffer = ReplayBuffer(batch_size=8, buffer_size=44, seed=seed)
        self.tau, self.gamma = 0.02, 0.99

    def step(self, **experience):
        self.buffer.add(**experience)
        if len(self.buffer) >= self.buffer.batch_size:
            self.learn(self.buffer.sample())
            self.soft_update()

    def learn(self, batch):
        states, next_states = torch.stack(batch["state"]), torch.stack(batch["next_state"])
        actions = torch.tensor(batch["action"]).cuda()[:, None]
        rewards, dones = torch.tensor(batch["reward"]).cuda(), torch.tensor(batch["done"]).float().cuda()
        with torch.no_grad():
            target = rewards + self.gamma * self.target_net(next_states).max(1).values * (1 - dones)
        loss = (self.net(states).gather(1, actions).squeeze(1) - target).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def soft_update(self):
        for slow, fast in zip(self.target_net.parameters(), self.net.parameters(), strict=True):
            slow.mul_(1 - self.tau).add_(self.tau * fast)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=34)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    chance = random.Random(chosen.seed)
    agent = Agent(states=512, actions=4, seed=chosen.seed)
    state = torch.randn(512, device="cuda")
    for number in range(chosen.steps):
        action = chance.randrange(4)  # step
        next_state = torch.randn(512, device="cuda")
        agent.step(state=state, action=action, reward=chance.random(), next_state=next_state, done=number % 10 == 9)
        state = next_state
    print(len(agent.buffer), "experiences")


if __name__ == "__main__":
    main()
