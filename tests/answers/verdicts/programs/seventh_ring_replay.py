# SPDX-License-Identifier: Apache-2.0
"""Soft actor-critic for a small arm: a minibatch of old transitions after each move."""

import argparse
import random
from collections import namedtuple

import torch
from torch import nn

STATE, ACTION = 64, 6
Transition = namedtuple("Transition", "state action reward after")


class Replay:
    def __init__(self, capacity, rng):
        self.capacity, self.rng = capacity, rng
        self.storage, self.position = [], 0

    def push(self, transition):
        if len(self.storage) <= self.position:
            self.storage.append(None)
        self.storage[self.position] = transition
        self.position = (self.position + 1) % self.capacity

    def minibatch(self, size):
        drawn = self.rng.choices(self.storage, k=size)
        return Transition(*(torch.stack(field) for field in zip(*drawn)))


class Agent:
    def __init__(self, discount=0.98, temperature=0.1):
        self.actor = nn.Sequential(nn.Linear(STATE, 48), nn.ReLU(), nn.Linear(48, 2 * ACTION)).cuda()
        self.critic = self.make_critic()
        self.target = self.make_critic().requires_grad_(False)
        self.target.load_state_dict(self.critic.state_dict())
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.discount, self.temperature = discount, temperature

    @staticmethod
    def make_critic():
        return nn.Sequential(nn.Linear(STATE + ACTION, 48), nn.ReLU(), nn.Linear(48, 1)).cuda()

    def act(self, state):
        mean, spread = self.actor(state).chunk(2, dim=-1)
        noise = torch.randn_like(mean)
        action = torch.tanh(mean + spread.clamp(-4, 1).exp() * noise)
        return action, -(0.5 * noise.square() + spread).sum(-1, keepdim=True)

    def learn(self, batch):
        with torch.no_grad():
            following, logp = self.act(batch.after)
            future = self.target(torch.cat([batch.after, following], 1)) - self.temperature * logp
            wanted = batch.reward + self.discount * future
        loss = (self.critic(torch.cat([batch.state, batch.action], 1)) - wanted).square().mean()
        self.critic_optimizer.zero_grad()
        loss.backward()
        self.critic_optimizer.step()
        action, logp = self.act(batch.state)
        loss = (self.temperature * logp - self.critic(torch.cat([batch.state, action], 1))).mean()
        self.actor_optimizer.zero_grad()
        loss.backward()
        self.actor_optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.critic.parameters()):
                slow.lerp_(fast, 0.01)


def move(agent, replay, state):
    with torch.no_grad():
        action, _ = agent.act(state)
        after = 0.95 * state + 0.05 * torch.randn_like(state) + 0.01 * action.mean()
        reward = -after.square().mean().view(1)
    replay.push(Transition(state, action, reward, after))
    agent.learn(replay.minibatch(16))
    return after


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    agent, replay = Agent(), Replay(80, random.Random(chosen.seed))
    state = torch.randn(STATE, device="cuda")
    for _ in range(chosen.steps):
        state = move(agent, replay, state)  # step
    print("transitions:", len(replay.storage))


if __name__ == "__main__":
    main()
