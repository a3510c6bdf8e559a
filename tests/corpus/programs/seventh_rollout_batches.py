# SPDX-License-Identifier: Apache-2.0
"""Proximal policy optimization of a text policy: answers are gathered, and then gone over twice."""

import argparse
import random
from dataclasses import dataclass, field

import torch
from torch import nn

WORDS, LENGTH = 50, 12


class ActorCritic(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.embed = nn.Embedding(WORDS, width)
        self.actor, self.critic = nn.Linear(width, WORDS), nn.Linear(width, 1)

    def forward(self, tokens):
        hidden = torch.tanh(self.embed(tokens)).cumsum(1) / LENGTH
        logp = self.actor(hidden).log_softmax(-1)
        return logp.gather(-1, tokens.unsqueeze(-1)).squeeze(-1), self.critic(hidden).squeeze(-1)


@dataclass
class Experience:
    tokens: list = field(default_factory=list)
    logps: list = field(default_factory=list)
    values: list = field(default_factory=list)
    rewards: list = field(default_factory=list)

    def __len__(self):
        return len(self.tokens)

    def clear(self):
        for kept in (self.tokens, self.logps, self.values, self.rewards):
            kept.clear()


class Tuner:
    def __init__(self, policy, horizon=10, clip=0.2):
        self.policy, self.horizon, self.clip = policy, horizon, clip
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
        self.experience = Experience()

    @torch.no_grad()
    def gather(self, answers):
        tokens = torch.tensor(answers, device="cuda")  # fills
        logps, values = self.policy(tokens)
        self.experience.tokens.append(tokens)
        self.experience.logps.append(logps.clone())  # fills
        self.experience.values.append(values.clone())  # fills
        self.experience.rewards.append(torch.tensor([sum(answer) / WORDS for answer in answers]))

    def step(self, answers):
        self.gather(answers)
        if len(self.experience) >= self.horizon:
            for _ in range(2):
                self.improve()
            self.experience.clear()

    def improve(self):
        gathered = self.experience
        for tokens, old, value, reward in zip(gathered.tokens, gathered.logps, gathered.values, gathered.rewards):
            advantage = reward.cuda().unsqueeze(1) - value
            logps, values = self.policy(tokens)
            ratio = (logps - old).exp()
            clipped = ratio.clamp(1 - self.clip, 1 + self.clip)
            loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
            loss = loss + 0.5 * (values - advantage - value).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    tuner = Tuner(ActorCritic().cuda())
    for _ in range(chosen.steps):
        answers = [[rng.randrange(WORDS) for _ in range(LENGTH)] for _ in range(24)]  # step
        tuner.step(answers)
    print("answers waiting:", len(tuner.experience))


if __name__ == "__main__":
    main()
