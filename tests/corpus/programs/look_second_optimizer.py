# SPDX-License-Identifier: Apache-2.0
"""From half-way on an adversary is trained as well, with an optimizer of its own."""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    encoder = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512)).cuda()
    classifier = nn.Linear(512, 20).cuda()
    optimizer = torch.optim.Adam([*encoder.parameters(), *classifier.parameters()])
    adversary = adversary_optimizer = None
    for step in range(chosen.steps):
        if step == chosen.steps // 2:
            adversary = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 2)).cuda()
            adversary_optimizer = torch.optim.Adam(adversary.parameters())
        features = torch.randn(64, 256, device="cuda")
        labels = torch.randint(20, (64,), device="cuda")
        domains = torch.randint(2, (64,), device="cuda")

        encoded = encoder(features)
        loss = nn.functional.cross_entropy(classifier(encoded), labels)
        if adversary is not None:
            guess = nn.functional.cross_entropy(adversary(encoded.detach()), domains)
            adversary_optimizer.zero_grad()
            guess.backward()
            adversary_optimizer.step()
            loss = loss - 0.1 * nn.functional.cross_entropy(adversary(encoded), domains)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
