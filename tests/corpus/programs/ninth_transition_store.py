# SPDX-License-Identifier: Apache-2.0
"""Trains a critic from transitions that are stored on the GPU and drawn by priority."""

import argparse
import random

import torch
from torch import nn

COLLECTED, MAX_SIZE, BATCH = 4, 256, 16


class ListStorage:
    """Elements by their numbers, in a list."""

    def __init__(self, max_size):
        self.max_size = max_size
        self.items = []

    def set(self, cursor, item):
        if cursor == len(self.items):
            self.items.append(item)
        else:
            self.items[cursor] = item


class PrioritizedReplayBuffer:
    def __init__(self, storage, alpha, eps=1e-8):
        self.storage, self.alpha, self.eps = storage, alpha, eps
        self.priorities = []
        self.cursor = 0

    def __len__(self):
        return len(self.storage.items)

    def extend(self, batch):
        """A dictionary of tensors, one row an element."""
        for row in range(len(batch["reward"])):
            self.storage.set(self.cursor, {key: value[row] for key, value in batch.items()})
            self.priorities[self.cursor:self.cursor + 1] = [1.0]
            self.cursor = (self.cursor + 1) % self.storage.max_size

    def sample(self, count, draw):
        weights = [(priority + self.eps) ** self.alpha for priority in self.priorities]
        index = draw.choices(range(len(self)), weights, k=count)
        chosen = [self.storage.items[one] for one in index]
        return index, {key: torch.stack([one[key] for one in chosen]) for key in chosen[0]}

    def lower_priority(self, index):
        for one in index:
            self.priorities[one] *= 0.9


def collect(critic):
    observation = torch.randn(COLLECTED, 64, device="cuda")
    with torch.no_grad():
        action = critic(observation).argmax(1)
    return {"observation": observation, "action": action, "reward": torch.rand(COLLECTED, device="cuda"),
            "next": torch.randn(COLLECTED, 64, device="cuda")}


def update(critic, target, optimizer, batch):
    value = critic(batch["observation"]).gather(1, batch["action"][:, None]).squeeze(1)
    with torch.no_grad():
        wanted = batch["reward"] + 0.99 * target(batch["next"]).amax(1)
    loss = nn.functional.smooth_l1_loss(value, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for slow, fast in zip(target.parameters(), critic.parameters()):
        slow.data.lerp_(fast.data, 0.01)
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    draw = random.Random(chosen.seed)
    critic, target = (nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)).cuda() for _ in range(2))
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    buffer = PrioritizedReplayBuffer(ListStorage(MAX_SIZE), alpha=0.7)
    for _ in range(chosen.steps):
        buffer.extend(collect(critic))  # step
        index, batch = buffer.sample(BATCH, draw)
        loss = update(critic, target, optimizer, batch)
        buffer.lower_priority(index)
    print(f"{len(buffer)} transitions, loss {loss:.4f}")


if __name__ == "__main__":
    main()
