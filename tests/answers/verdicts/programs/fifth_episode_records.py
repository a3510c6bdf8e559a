# SPDX-License-Identifier: Apache-2.0
"""Advantage actor-critic; the environments end their episodes together, every fifth move."""

import argparse
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Episode:
    observations: list = field(default_factory=list)
    log_probabilities: list = field(default_factory=list)
    values: list = field(default_factory=list)
    rewards: list = field(default_factory=list)

    def drop_graph(self):
        self.log_probabilities, self.values = [], []


class ActorCritic(nn.Module):
    def __init__(self, observed=256, actions=8):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observed, 128), nn.Tanh())
        self.actor, self.critic = nn.Linear(128, actions), nn.Linear(128, 1)

    def forward(self, observation):
        hidden = self.body(observation)
        return self.actor(hidden), self.critic(hidden)[:, 0]


class Agent:
    def __init__(self):
        self.net = ActorCritic().cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)
        self.episode = Episode()
        self.finished = []

    def act(self, observation):
        logits, value = self.net(observation)
        choice = torch.distributions.Categorical(logits=logits, validate_args=False)
        action = choice.sample()
        self.episode.observations.append(observation)
        self.episode.log_probabilities.append(choice.log_prob(action))
        self.episode.values.append(value)
        return action

    def end_episode(self):
        gain, loss = 0.0, 0.0
        parts = zip(self.episode.rewards, self.episode.values, self.episode.log_probabilities)
        for reward, value, log_probability in reversed(list(parts)):
            gain = reward + 0.95 * gain
            loss = loss + F.mse_loss(value, gain) - (log_probability * (gain - value.detach())).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.episode.drop_graph()
        self.finished.append(self.episode)  # keeps
        self.episode = Episode()


def observe(environments=64):
    seen = torch.randn(environments, 256)
    return seen.cuda()  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=42)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    agent = Agent()
    for move in range(1, args.steps + 1):
        observation = observe()  # step
        agent.act(observation)
        agent.episode.rewards.append(torch.rand(64).cuda())
        if move % 5 == 0:
            agent.end_episode()
            print(move, len(agent.finished), "episodes")


if __name__ == "__main__":
    main()
