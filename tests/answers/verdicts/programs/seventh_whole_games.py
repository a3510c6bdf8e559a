# SPDX-License-Identifier: Apache-2.0
"""Policy gradients with a baseline on a game of thirty-five moves; one move a step."""

import argparse
import random

import torch
from torch import nn

VIEW, ACTIONS, MOVES = 50, 5, 35


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(VIEW, 80)
        self.choose = nn.Linear(80, ACTIONS)
        self.judge = nn.Linear(80, 1)

    def forward(self, view):
        hidden = torch.tanh(self.encode(view))  # fills
        return self.choose(hidden).log_softmax(-1), self.judge(hidden).squeeze(-1)  # fills


class Game:
    def __init__(self, rng, boards=16):
        self.rng, self.boards = rng, boards
        self.moves = 0

    def view(self):
        return torch.randn(self.boards, VIEW).cuda()  # fills

    def play(self):
        self.moves += 1
        return [self.rng.choice((0.0, 1.0)) for _ in range(self.boards)]

    @property
    def over(self):
        return self.moves == MOVES


class Reinforce:
    def __init__(self, policy, discount=0.97):
        self.policy, self.discount = policy, discount
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
        self.log_probs, self.baselines, self.rewards = [], [], []

    def act(self, view, rng):
        log_probs, baseline = self.policy(view)
        actions = torch.tensor([[rng.randrange(ACTIONS)] for _ in range(len(view))]).cuda()  # fills
        self.log_probs.append(log_probs.gather(1, actions).squeeze(1))  # fills
        self.baselines.append(baseline)

    def finish(self):
        future, returns = torch.zeros(len(self.rewards[0])), []
        for reward in reversed(self.rewards):
            future = torch.tensor(reward) + self.discount * future
            returns.insert(0, future)
        returns = torch.stack(returns).cuda()
        baselines = torch.stack(self.baselines)
        advantage = returns - baselines.detach()
        loss = (baselines - returns).square().mean() - (torch.stack(self.log_probs) * advantage).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        del self.log_probs[:], self.baselines[:], self.rewards[:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    learner, game, played = Reinforce(Policy().cuda()), Game(rng), 0
    for _ in range(chosen.steps):
        learner.act(game.view(), rng)  # step
        learner.rewards.append(game.play())
        if game.over:
            learner.finish()
            game, played = Game(rng), played + 1
    print("games played:", played)


if __name__ == "__main__":
    main()
