# SPDX-License-Identifier: Apache-2.0
"""Population-based training: members take turns; the worse ones later take over weights from the better ones."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn


class Member:
    def __init__(self, number):
        self.number = number
        self.lr = 10 ** random.uniform(-4, -2)
        self.model = nn.Sequential(nn.Linear(96, 128), nn.ReLU(), nn.Linear(128, 6)).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=self.lr)
        self.score = 0.0

    def train(self):
        x, y = torch.randn(64, 96).cuda(), torch.randint(6, (64,)).cuda()
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.score = random.random()

    def exploit(self, other):
        self.model.load_state_dict(other.model.state_dict())
        self.lr = other.lr * random.choice((0.8, 1.25))
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr


class Population:
    def __init__(self, size):
        self.size = size
        self.members = []
        self.turn = 0

    def step(self):
        place = self.turn % self.size
        if place == len(self.members):
            self.members.append(Member(place))
        member = self.members[place]
        member.train()
        if len(self.members) == self.size:
            best = max(self.members, key=lambda one: one.score)
            if member is not best and member.score < 0.25:
                member.exploit(best)
        self.turn += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=33)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--population", type=int, default=24)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    population = Population(args.population)
    for _ in range(args.steps):
        population.step()  # step


if __name__ == "__main__":
    main()
