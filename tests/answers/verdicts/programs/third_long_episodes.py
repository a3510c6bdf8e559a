# SPDX-License-Identifier: Apache-2.0
"""Recurrent policy on episodes of nineteen steps: each step's hidden state is kept until its episode is over."""

import argparse

import torch
from torch import nn


class Episode:
    def __init__(self, width):
        self.state, self.chances, self.rewards = torch.zeros(64, width, device="cuda"), [], []

    def loss(self):
        weights = torch.stack(self.rewards).flip(0).cumsum(0).flip(0)
        return -(torch.stack(self.chances) * (weights - weights.mean())).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=57)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    cell, policy = nn.GRUCell(48, 192).cuda(), nn.Linear(192, 9).cuda()
    optimizer = torch.optim.RMSprop([*cell.parameters(), *policy.parameters()], lr=1e-3)
    episode = Episode(192)
    for step in range(args.steps):
        seen = torch.randn(64, 48).cuda()  # step
        episode.state = cell(seen, episode.state)  # fills
        episode.chances.append(policy(episode.state).log_softmax(1)[:, step % 9])
        episode.rewards.append(torch.rand(64).cuda())
        if len(episode.rewards) == 19:
            optimizer.zero_grad()
            episode.loss().backward()
            optimizer.step()
            episode = Episode(192)
    print(f"{len(episode.rewards)} steps into an episode")


if __name__ == "__main__":
    main()
