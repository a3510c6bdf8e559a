# SPDX-License-Identifier: Apache-2.0
"""Tunes a language policy towards a reward; a controller weighs the penalty for what departs from a reference."""

import argparse
import random

import torch
from torch import nn

WORDS = 64


class Policy(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embed = nn.Embedding(WORDS, width)
        self.mix = nn.Linear(width, width)
        self.head = nn.Linear(width, WORDS)

    def forward(self, tokens):
        rows = self.embed(tokens)  # allocates
        hidden = torch.tanh(self.mix(rows))  # allocates
        return torch.log_softmax(self.head(hidden), dim=-1)  # allocates


class AdaptiveController:
    """The weight of the penalty: up when the averaged divergence is above its target, down when it is below."""

    def __init__(self, weight=0.1, target=4.0, decay=0.9):
        self.weight, self.target, self.decay = weight, target, decay
        self.average = 0.0

    def update(self, divergence):
        self.average = self.decay * self.average + (1 - self.decay) * divergence  # keeps
        error = min(0.2, max(-0.2, float(self.average) / self.target - 1))
        self.weight *= 1 + 0.1 * error


def divergence_of(logp, reference):
    return (logp.exp() * (logp - reference)).sum(-1).mean()  # allocates


def generate(rng, sequences=8, length=16):
    answers = [[rng.randrange(WORDS) for _ in range(length)] for _ in range(sequences)]
    rewards = [sum(token % 2 for token in answer) / length - 0.5 for answer in answers]
    return torch.tensor(answers).cuda(), torch.tensor(rewards).cuda()  # allocates


def improve(policy, reference, optimizer, controller, rng):
    tokens, rewards = generate(rng)
    with torch.no_grad():
        expected = reference(tokens)
    logp = policy(tokens)
    taken = logp.gather(-1, tokens.unsqueeze(-1)).squeeze(-1).sum(-1)
    penalty = controller.weight * divergence_of(logp, expected)
    loss = penalty - (rewards * taken).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    controller.update(divergence_of(policy(tokens), expected))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    policy, reference = Policy().cuda(), Policy().cuda()
    reference.load_state_dict(policy.state_dict())
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    controller = AdaptiveController()
    for _ in range(chosen.steps):
        improve(policy, reference, optimizer, controller, rng)  # step
    print(f"weight of the penalty: {controller.weight:.3f}")


if __name__ == "__main__":
    main()
