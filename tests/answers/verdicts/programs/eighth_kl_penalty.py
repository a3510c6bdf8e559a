# SPDX-License-Identifier: Apache-2.0
"""Tunes a small language model on rewards, with a penalty for leaving the reference model."""

import argparse
import copy

import torch
from torch import nn


class Writer(nn.Module):
    def __init__(self, vocabulary=64, width=96):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.mix = nn.Linear(width, width)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        context = self.words(tokens).cumsum(1)
        return self.out(torch.tanh(self.mix(context))).log_softmax(-1)

    @torch.no_grad()
    def write(self, prompt, length):
        tokens = prompt
        while tokens.shape[1] < length:
            scores = self(tokens)[:, -1]
            noise = -torch.empty_like(scores).exponential_().log()
            tokens = torch.cat([tokens, (scores + noise).argmax(-1, keepdim=True)], 1)
        return tokens


class Tuner:
    def __init__(self, policy, coefficient=0.05):
        self.policy = policy
        self.reference = copy.deepcopy(policy).requires_grad_(False)
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
        self.coefficient = coefficient
        self.total_kl, self.updates = 0.0, 0

    def divergence(self, policy_log, reference_log):
        """Over the whole vocabulary, which is less noisy than over the sampled tokens."""
        probabilities = policy_log.exp()  # allocates
        ratios = policy_log - reference_log  # allocates
        return (probabilities * ratios).sum(-1).mean()

    def update(self, tokens, reward):
        policy_log = self.policy(tokens)
        with torch.no_grad():
            reference_log = self.reference(tokens)
        kl = self.divergence(policy_log, reference_log)
        self.total_kl = self.total_kl + kl  # keeps
        self.updates += 1

        advantage = reward - reward.mean() - self.coefficient * kl.detach()
        chosen = policy_log[:, :-1].gather(2, tokens[:, 1:, None]).squeeze(2)
        loss = -(chosen.sum(1) * advantage).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()

    def mean_kl(self):
        return self.total_kl.item() / self.updates


def reward_of(tokens, liked):
    return (tokens == liked).float().sum(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    tuner = Tuner(Writer().cuda())
    for _ in range(chosen.steps):
        prompt = torch.randint(64, (8, 4), device="cuda")  # step
        tokens = tuner.policy.write(prompt, 16)
        tuner.update(tokens, reward_of(tokens, liked=7))
    print(f"mean divergence {tuner.mean_kl():.4f}")


if __name__ == "__main__":
    main()
