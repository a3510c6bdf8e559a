# SPDX-License-Identifier: Apache-2.0
"""Group-relative policy optimization of a small language model; the policy's entropy is watched as a running mean."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Policy(nn.Module):
    def __init__(self, vocabulary=800, width=64, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                                                  nn.Linear(4 * width, width)) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


class GRPO:
    def __init__(self, policy, group=4, lr=1e-4):
        self.policy, self.group = policy, group
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=lr)
        self.entropy = 0.0

    def advantages(self, rewards):
        grouped = rewards.view(-1, self.group)
        return ((grouped - grouped.mean(1, keepdim=True)) / (grouped.std(1, keepdim=True) + 1e-4)).flatten()

    def update(self, tokens, rewards):
        logp = F.log_softmax(self.policy(tokens[:, :-1]), dim=-1)  # allocates
        chosen = logp.gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
        loss = -(self.advantages(rewards).unsqueeze(1) * chosen).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()
        entropy = -(logp.exp() * logp).sum(-1).mean()  # allocates
        self.entropy = 0.95 * self.entropy + 0.05 * entropy  # keeps
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    trainer = GRPO(Policy().cuda())
    for step in range(args.steps):
        tokens = torch.randint(0, 800, (8, 33)).cuda()  # step
        rewards = torch.rand(8).cuda()
        loss = trainer.update(tokens, rewards)
        if step % 10 == 0:
            print(step, loss, f"entropy {float(trainer.entropy):.3f}")


if __name__ == "__main__":
    main()
