# SPDX-License-Identifier: Apache-2.0
"""Value decomposition for a team of four: whole episodes are played, then stored in host memory and learned from."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn

AGENTS, OBSERVATION, ACTIONS = 4, 40, 5


class Episode:
    def __init__(self):
        self.observations, self.actions, self.rewards = [], [], []

    def add(self, observation, action, reward):
        self.observations.append(observation)
        self.actions.append(action)
        self.rewards.append(reward)

    def to_host(self):
        return tuple(torch.stack(part).cpu() for part in (self.observations, self.actions, self.rewards))


class Arena:
    """Games of a fixed length."""

    def __init__(self, games, length):
        self.games, self.length = games, length
        self.clock = 0

    def observe(self):
        return torch.randn(self.games, AGENTS, OBSERVATION).cuda()  # fills

    def act(self, actions):
        self.clock += 1
        return torch.rand(self.games).cuda(), self.clock % self.length == 0


class TeamLearner:
    def __init__(self, lr=5e-4):
        self.net = nn.Sequential(nn.Linear(OBSERVATION, 64), nn.ReLU(), nn.Linear(64, ACTIONS)).cuda()
        self.optimizer = torch.optim.RMSprop(self.net.parameters(), lr=lr)

    @torch.no_grad()
    def act(self, observation):
        return self.net(observation).argmax(-1)

    def learn(self, episode, gamma=0.98):
        observations, actions, rewards = (part.cuda() for part in episode)
        team = self.net(observations).gather(-1, actions.unsqueeze(-1)).squeeze(-1).sum(-1)
        loss = F.mse_loss(team[:-1], rewards[:-1] + gamma * team[1:].detach())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--episode-length", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    arena, learner = Arena(64, args.episode_length), TeamLearner()
    stored, episode = [], Episode()
    for _ in range(args.steps):
        observation = arena.observe()  # step
        actions = learner.act(observation)
        reward, over = arena.act(actions)
        episode.add(observation, actions, reward)
        if over:
            stored.append(episode.to_host())
            episode = Episode()
            learner.learn(random.choice(stored))
    print(len(stored), "episodes")


if __name__ == "__main__":
    main()
