# SPDX-License-Identifier: Apache-2.0
"""Trains a value network from transitions that several environments push into a replay buffer."""

import argparse
import random

import torch
from torch import nn

ENVIRONMENTS = 4


class NaiveReplayBuffer:
    """A circular queue of data, without priorities."""

    def __init__(self, replay_buffer_size, seed):
        self.replay_buffer_size = replay_buffer_size
        self.data = [None for _ in range(replay_buffer_size)]
        self.valid_count, self.push_count, self.tail = 0, 0, 0
        self.draw = random.Random(seed)

    def push(self, data):
        for one in data:
            if self.data[self.tail] is None:
                self.valid_count += 1
            self.data[self.tail] = one
            self.tail = (self.tail + 1) % self.replay_buffer_size
            self.push_count += 1

    def sample(self, size):
        if self.valid_count < size:
            return None
        return [self.data[index] for index in self.draw.sample(range(self.valid_count), size)]


class Collector:
    """Plays in the environments; what it returns stays on the GPU."""

    def __init__(self, model):
        self.model = model
        self.observations = torch.rand(ENVIRONMENTS, 576, device="cuda")

    @torch.no_grad()
    def collect(self):
        actions = self.model(self.observations).argmax(1)
        following = torch.rand(ENVIRONMENTS, 576, device="cuda")
        rewards = torch.rand(ENVIRONMENTS, device="cuda")
        data = [{"obs": self.observations[index].clone(), "action": actions[index].clone(),
                 "reward": rewards[index].clone(), "next_obs": following[index].clone()}
                for index in range(ENVIRONMENTS)]
        self.observations = following
        return data


def learn(model, optimizer, data, discount=0.97):
    batch = {key: torch.stack([one[key] for one in data]) for key in data[0]}
    with torch.no_grad():
        target = batch["reward"] + discount * model(batch["next_obs"]).max(1).values
    value = model(batch["obs"]).gather(1, batch["action"][:, None])[:, 0]
    loss = nn.functional.smooth_l1_loss(value, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(576, 64), nn.ReLU(), nn.Linear(64, 5)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    buffer, collector = NaiveReplayBuffer(200, chosen.seed), Collector(model)
    loss = 0.0
    for _ in range(chosen.steps):
        buffer.push(collector.collect())  # step
        data = buffer.sample(16)
        if data is not None:
            loss = learn(model, optimizer, data)
    print(f"pushed {buffer.push_count}, loss {loss:.4f}")


if __name__ == "__main__":
    main()
