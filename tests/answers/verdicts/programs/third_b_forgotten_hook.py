# SPDX-License-Identifier: Apache-2.0
"""A forward hook notes the features of a layer, to look at their spread in the end; nobody empties what it notes."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Probe:
    def __init__(self, layer):
        self.noted = []
        layer.register_forward_hook(self.note)

    def note(self, layer, inputs, output):
        self.noted.append(output.detach())  # keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=22)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Conv1d(1, 16, 9, stride=4, padding=4), nn.ReLU(),
                          nn.Conv1d(16, 24, 9, stride=4, padding=4),  # allocates
                          nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(96, 12)).cuda()
    probe = Probe(model[2])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(args.steps):
        clips = torch.randn(32, 1, 1600).cuda()  # step
        loss = F.cross_entropy(model(clips), torch.randint(12, (32,), device="cuda"))  # allocates
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"spread {torch.stack([one.std() for one in probe.noted]).mean().item():.3f}")


if __name__ == "__main__":
    main()
