# SPDX-License-Identifier: Apache-2.0
"""Actor and learner: the actor plays in a process of its own, sends numbers, and keeps the states it has seen."""

import argparse

import torch
import torch.multiprocessing as mp
from torch import nn


class Policy(nn.Module):
    def __init__(self, sensors=24, moves=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(sensors, 64), nn.Tanh(), nn.Linear(64, moves))

    def forward(self, states):
        return self.body(states)


class Actor:
    def __init__(self, worlds=256):
        self.policy = Policy().cuda()
        self.state = torch.zeros(worlds, 24, device="cuda")
        self.episodes = [[]]

    @torch.inference_mode()
    def move(self, step):
        push = self.policy(self.state).repeat(1, 6)
        self.state = 0.9 * self.state + 0.1 * push  # allocates
        self.episodes[-1].append(self.state)  # keeps
        if step % 10 == 9:
            self.episodes.append([])
        return self.state.square().sum(1).cpu()


def play(asked, rewards):
    actor = Actor()
    for step in iter(asked.get, None):
        rewards.put(actor.move(step).tolist())  # step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    context = mp.get_context("spawn")
    asked, rewards = context.SimpleQueue(), context.SimpleQueue()
    child = context.Process(target=play, args=(asked, rewards), daemon=True)
    child.start()
    critic = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 1)).cuda()
    optimizer = torch.optim.Adam(critic.parameters())
    for step in range(args.steps):
        asked.put(step)
        reward = torch.tensor(rewards.get(), device="cuda")
        optimizer.zero_grad()
        (critic(reward) - reward.mean()).square().mean().backward()
        optimizer.step()
    asked.put(None)
    child.join()
    print("played")


if __name__ == "__main__":
    main()
