# SPDX-License-Identifier: Apache-2.0
"""PPO on 64 games at once: sixteen steps are collected, learned from and dropped."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, observation, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observation, 128), nn.Tanh())
        self.actor, self.critic = nn.Linear(128, actions), nn.Linear(128, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.actor(h), validate_args=False), self.critic(h).squeeze(-1)


class Rollout:
    FIELDS = ("observation", "action", "logprob", "value", "reward")

    def __init__(self):
        self.clear()

    def clear(self):
        self.data = {field: [] for field in self.FIELDS}

    def add(self, **step):
        for field, value in step.items():
            self.data[field].append(value)

    def __len__(self):
        return len(self.data["reward"])

    def returns(self, gamma=0.99):
        total, out = torch.zeros_like(self.data["reward"][0]), []
        for reward in reversed(self.data["reward"]):
            total = reward + gamma * total
            out.append(total)
        return torch.stack(out[::-1])


def learn(model, optimizer, rollout, epochs=3, clip=0.2):
    observation, action, old = (torch.stack(rollout.data[field]) for field in ("observation", "action", "logprob"))
    returns = rollout.returns()
    advantage = returns - torch.stack(rollout.data["value"])
    for _ in range(epochs):
        choice, value = model(observation)
        ratio = (choice.log_prob(action) - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()
        loss = loss + 0.5 * F.mse_loss(value, returns) - 0.01 * choice.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=26)
    parser.add_argument("--horizon", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model, rollout = ActorCritic(160, 6).cuda(), Rollout()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    for _ in range(args.steps):
        seen = torch.randn(64, 160)  # step
        observation = seen.cuda()  # fills
        with torch.no_grad():
            choice, value = model(observation)
            action = choice.sample()
        rollout.add(observation=observation, action=action, logprob=choice.log_prob(action), value=value,
                    reward=torch.randn(64).cuda())
        if len(rollout) == args.horizon:
            learn(model, optimizer, rollout)
            rollout.clear()


if __name__ == "__main__":
    main()
