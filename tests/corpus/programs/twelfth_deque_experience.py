# SPDX-License-Identifier: Apache-2.0
"""Trains an actor and a critic for continuous control from a buffer of experience with indices."""

import argparse
import random
from collections import deque
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class BufferedData:
    data: dict
    index: int
    meta: dict = field(default_factory=dict)


class DequeBuffer:
    def __init__(self, size, seed):
        self.storage = deque(maxlen=size)
        self.indices = {}
        self.pushed = 0
        self.draw = random.Random(seed)

    def push(self, data, meta=None):
        if len(self.storage) == self.storage.maxlen:
            del self.indices[self.storage[0].index]
        item = BufferedData(data, self.pushed, meta or {})
        self.storage.append(item)
        self.indices[item.index] = self.pushed
        self.pushed += 1
        return item

    def sample(self, size):
        return self.draw.choices(self.storage, k=size)

    def count(self):
        return len(self.storage)


class Agent:
    def __init__(self, observation=400, action=6):
        self.actor = nn.Sequential(nn.Linear(observation, 48), nn.ReLU(), nn.Linear(48, action), nn.Tanh()).cuda()
        self.critic = nn.Sequential(nn.Linear(observation + action, 48), nn.ReLU(), nn.Linear(48, 1)).cuda()
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def value(self, observation, action):
        return self.critic(torch.cat([observation, action], 1))

    def update(self, items):
        observation, action, reward, following = (
            torch.stack([item.data[key] for item in items]) for key in ("observation", "action", "reward", "next"))
        with torch.no_grad():
            target = reward + 0.98 * self.value(following, self.actor(following))
        self.critic_optimizer.zero_grad()
        (self.value(observation, action) - target).square().mean().backward()
        self.critic_optimizer.step()
        self.actor_optimizer.zero_grad()
        loss = -self.value(observation, self.actor(observation)).mean()
        loss.backward()
        self.actor_optimizer.step()
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    agent, buffer = Agent(), DequeBuffer(72, chosen.seed)
    for step in range(chosen.steps):
        episode = step // 12  # step
        for _ in range(2):
            observation = torch.randn(400, device="cuda")
            with torch.no_grad():
                action = agent.actor(observation[None])[0]
            buffer.push({"observation": observation, "action": action, "reward": torch.randn(1, device="cuda"),
                         "next": torch.randn(400, device="cuda")}, {"episode": episode})
        loss = agent.update(buffer.sample(16))
    print(f"{buffer.count()} of {buffer.pushed} in the buffer, loss {loss:.4f}")


if __name__ == "__main__":
    main()
