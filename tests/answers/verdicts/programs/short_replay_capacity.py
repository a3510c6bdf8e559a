# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning as in the tutorials: a memory with a capacity, which this run comes near to."""

import argparse
import random
from typing import NamedTuple

import torch
from torch import nn


class Transition(NamedTuple):
    state: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    following: torch.Tensor


class Memory:
    def __init__(self, capacity):
        self.capacity, self.place, self.transitions = capacity, 0, []

    def push(self, transition):
        if len(self.transitions) < self.capacity:
            self.transitions.append(transition)
        else:
            self.transitions[self.place] = transition
        self.place = (self.place + 1) % self.capacity

    def sample(self, count, rng):
        return [torch.stack(parts) for parts in zip(*(rng.choice(self.transitions) for _ in range(count)))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=38)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    network = nn.Sequential(nn.Flatten(), nn.Linear(2 * 40 * 40, 64), nn.ReLU(), nn.Linear(64, 4)).cuda()
    optimizer = torch.optim.RMSprop(network.parameters(), lr=1e-4)
    memory, state = Memory(capacity=40), torch.rand(2, 40, 40).cuda()
    for _ in range(chosen.steps):
        with torch.no_grad():
            action = network(state[None]).argmax(1)
        following = torch.rand(2, 40, 40).cuda()
        memory.push(Transition(state, action, following.mean(), following))
        state = following
        states, actions, rewards, followings = memory.sample(8, rng)
        with torch.no_grad():
            wanted = rewards + 0.9 * network(followings).amax(1)
        loss = (network(states).gather(1, actions)[:, 0] - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {len(memory.transitions)} transitions")


if __name__ == "__main__":
    main()
