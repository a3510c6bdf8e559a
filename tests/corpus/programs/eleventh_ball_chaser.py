# SPDX-License-Identifier: Apache-2.0
"""Learns to chase a ball from pictures, with a replay buffer that samples by priority."""

import argparse
import random

import torch
from torch import nn

SIDE, ACTIONS, EPISODE = 12, 4, 25


class PrioritizedReplayBuffer:
    def __init__(self, alpha, beta, batch_size, max_size=1_000, eps=1e-8):
        self.alpha, self.beta, self.eps = alpha, beta, eps
        self.batch_size, self.max_size = batch_size, max_size
        self.storage, self.priorities, self.cursor = [], [], 0

    def add(self, transition, priority):
        weight = (priority + self.eps) ** self.alpha
        if self.cursor < len(self.storage):
            self.storage[self.cursor], self.priorities[self.cursor] = transition, weight
        else:
            self.storage.append(transition)
            self.priorities.append(weight)
        self.cursor = (self.cursor + 1) % self.max_size

    def sample(self, rng):
        indices = rng.choices(range(len(self.storage)), weights=self.priorities, k=self.batch_size)
        mean = sum(self.priorities) / len(self.priorities)
        weights = [(self.priorities[index] / mean) ** -self.beta for index in indices]
        states, actions, rewards, following = zip(*(self.storage[index] for index in indices))
        return (torch.stack(states), torch.tensor(actions, device="cuda"), torch.tensor(rewards, device="cuda"),
                torch.stack(following), torch.tensor(weights, device="cuda"))


class Court:
    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.turn, self.ball, self.player = 0, self.rng.randrange(SIDE), self.rng.randrange(SIDE)
        return self.picture()

    def picture(self):
        picture = torch.zeros(SIDE * SIDE)
        picture[self.ball * SIDE + self.player] = 1
        return picture.cuda()

    def move(self, action):
        self.turn += 1
        self.player = (self.player + (-1, 0, 1, 2)[action]) % SIDE
        self.ball = (self.ball + self.rng.choice((-1, 1))) % SIDE
        return self.picture(), -abs(self.ball - self.player) / SIDE, self.turn == EPISODE


def learn(network, target, optimizer, batch):
    states, actions, rewards, following, weights = batch
    with torch.no_grad():
        goal = rewards + 0.97 * target(following).max(1).values
    errors = network(states).gather(1, actions[:, None])[:, 0] - goal
    loss = (weights * errors.square()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--moves", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    network, target = (nn.Sequential(nn.Linear(SIDE * SIDE, 64), nn.ReLU(), nn.Linear(64, ACTIONS)).cuda()
                       for _ in range(2))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    buffer, court = PrioritizedReplayBuffer(alpha=0.7, beta=0.9, batch_size=32), Court(rng)
    state = court.reset()
    for step in range(chosen.steps):
        target.load_state_dict(network.state_dict())  # step
        for _ in range(chosen.moves):
            action = rng.randrange(ACTIONS)
            following, reward, over = court.move(action)
            buffer.add((state, action, reward, following), priority=abs(reward))
            state = court.reset() if over else following
        loss = learn(network, target, optimizer, buffer.sample(rng))
    print(f"{len(buffer.storage)} transitions, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
