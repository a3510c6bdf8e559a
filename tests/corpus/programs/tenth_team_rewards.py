# SPDX-License-Identifier: Apache-2.0
"""Learns joint values of a team of agents from episodes, with a logger for the statistics of each training step."""

import argparse
from collections import defaultdict

import torch
from torch import nn

AGENTS, SEEN, ACTIONS, LENGTH = 3, 20, 6, 8


class Logger:
    def __init__(self):
        self.stats = defaultdict(list)

    def log_stat(self, key, value, t):
        self.stats[key].append((t, value))  # keeps

    def print_recent_stats(self):
        parts = []
        for key, entries in sorted(self.stats.items()):
            recent = torch.tensor([float(value) for _, value in entries[-5:]])
            parts.append(f"{key} {recent.mean().item():.4f}")
        print(" | ".join(parts))


class Learner:
    def __init__(self, logger, width=64):
        self.agent = nn.Sequential(nn.Linear(SEEN, width), nn.ReLU(), nn.Linear(width, ACTIONS)).cuda()
        self.target = nn.Sequential(nn.Linear(SEEN, width), nn.ReLU(), nn.Linear(width, ACTIONS)).cuda()
        self.optimizer = torch.optim.RMSprop(self.agent.parameters(), lr=5e-4)
        self.logger = logger

    def train(self, seen, actions, rewards, t_env):
        chosen = self.agent(seen[:, :-1]).gather(3, actions).squeeze(3).sum(2)
        with torch.no_grad():
            best = self.target(seen[:, 1:]).max(3)[0].sum(2)
        td_error = chosen - (rewards + 0.99 * best)
        loss = td_error.square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        grad_norm = nn.utils.clip_grad_norm_(self.agent.parameters(), 10)  # allocates
        self.optimizer.step()
        self.logger.log_stat("loss", loss.item(), t_env)
        self.logger.log_stat("grad_norm", grad_norm, t_env)
        self.logger.log_stat("td_error_abs", td_error.abs().mean().item(), t_env)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    logger = Logger()
    learner = Learner(logger)
    for episode in range(chosen.steps):
        seen = torch.randn(16, LENGTH + 1, AGENTS, SEEN, device="cuda")  # step
        actions = torch.randint(ACTIONS, (16, LENGTH, AGENTS, 1), device="cuda")
        rewards = torch.rand(16, LENGTH, device="cuda")
        learner.train(seen, actions, rewards, episode * LENGTH)
        if episode % 10 == 9:
            logger.print_recent_stats()


if __name__ == "__main__":
    main()
