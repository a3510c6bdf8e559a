# SPDX-License-Identifier: Apache-2.0
"""Deep Q-learning with a target that is copied anew after each step; the former copy goes."""

import argparse
import copy

import torch
from torch import nn
from torch.nn import functional as F


class Agent:
    def __init__(self, states=32, moves=8):
        self.values = nn.Sequential(nn.Linear(states, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(),
                                    nn.Linear(384, moves)).cuda()
        self.optimizer = torch.optim.RMSprop(self.values.parameters(), lr=1e-3, momentum=0.9)
        self.renew()

    def renew(self):
        self.target = copy.deepcopy(self.values).requires_grad_(False)

    def learn(self, before, moves, rewards, after):
        expected = rewards + 0.99 * self.target(after).amax(1)
        loss = F.smooth_l1_loss(self.values(before).gather(1, moves[:, None])[:, 0], expected)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    agent = Agent()
    for _ in range(args.steps):
        before, after = torch.randn(2, 128, 32).cuda()  # step
        loss = agent.learn(before, torch.randint(8, (128,)).cuda(), torch.randn(128).cuda(), after)
        agent.renew()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
