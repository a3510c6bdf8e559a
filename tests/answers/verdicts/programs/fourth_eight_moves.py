# SPDX-License-Identifier: Apache-2.0
"""Actor and critic play eight moves, learn from them, and forget them."""

import argparse
from collections import namedtuple

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=16)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
Move = namedtuple("Move", "observation log_prob value reward")


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(128, 256), nn.Tanh())
        self.actor, self.critic = nn.Linear(256, 6), nn.Linear(256, 1)

    def forward(self, observation):
        hidden = self.trunk(observation)
        return self.actor(hidden).log_softmax(-1), self.critic(hidden)


class Agent:
    def __init__(self):
        self.net, self.moves = ActorCritic().cuda(), []
        self.optimizer = torch.optim.RMSprop(self.net.parameters())

    def move(self):
        observation = torch.randn(256, 128, device="cuda")  # fills
        log_probs, value = self.net(observation)  # fills
        self.moves.append(Move(observation, log_probs[:, 0], value, torch.ones_like(value)))

    def learn(self):
        loss = sum((move.value - move.reward).square().mean() - move.log_prob.mean() for move in self.moves)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.moves = []


agent = Agent()
for step in range(options.steps):
    agent.move()  # step
    if step % 8 == 7:
        agent.learn()
