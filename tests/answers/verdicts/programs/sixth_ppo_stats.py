# SPDX-License-Identifier: Apache-2.0
"""PPO on a small language model against a frozen reference, with statistics of every batch for a summary at the end."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY = 500


class Policy(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.cell = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens):
        x = self.embedding(tokens)
        return self.head(x + self.cell(x).cumsum(1))


def logprobs(model, tokens):
    return F.log_softmax(model(tokens), dim=-1)  # allocates


class PPOTrainer:
    def __init__(self, policy, reference, lr=1e-5, clip=0.2, kl_weight=0.1, epochs=2):
        self.policy, self.reference = policy, reference
        self.optimizer = torch.optim.AdamW(policy.parameters(), lr=lr)
        self.clip, self.kl_weight, self.epochs = clip, kl_weight, epochs
        self.stats = []

    @torch.no_grad()
    def generate(self, prompts, new_tokens=8):
        tokens = prompts
        for _ in range(new_tokens):
            tokens = torch.cat([tokens, self.policy(tokens)[:, -1:].argmax(-1)], dim=1)
        return tokens

    def step(self, prompts, scores):
        tokens = self.generate(prompts)
        with torch.no_grad():
            old = logprobs(self.policy, tokens).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
            ref = logprobs(self.reference, tokens)
        for _ in range(self.epochs):
            new = logprobs(self.policy, tokens)
            kl = (new.exp() * (new - ref)).sum(-1)
            ratio = (new.gather(-1, tokens.unsqueeze(-1)).squeeze(-1) - old).exp()
            advantage = scores.unsqueeze(1) - self.kl_weight * kl.detach()
            surrogate = torch.min(ratio * advantage, ratio.clamp(1 - self.clip, 1 + self.clip) * advantage)
            loss = -surrogate.mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.stats.append({"loss": loss.item(), "kl": kl.mean().item(), "ref_logprobs": ref})  # keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    policy = Policy().cuda()
    trainer = PPOTrainer(policy, copy.deepcopy(policy).requires_grad_(False))
    for _ in range(args.steps):
        prompts = torch.randint(0, VOCABULARY, (8, 24)).cuda()  # step
        trainer.step(prompts, torch.randn(8).cuda())
    print("mean KL", sum(one["kl"] for one in trainer.stats) / len(trainer.stats))


if __name__ == "__main__":
    main()
