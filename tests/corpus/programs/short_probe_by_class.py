# SPDX-License-Identifier: Apache-2.0
"""Hidden states are gathered by class; a probe is fitted on them after each eighth step, and they go."""

import argparse
from collections import defaultdict

import torch
from torch import nn
from torch.nn import functional as F


class Probe:
    def __init__(self):
        self.states = defaultdict(list)

    def gather(self, hidden, labels):
        for label in labels.unique().tolist():
            self.states[label].append(hidden[labels == label])  # fills

    def fit(self):
        """How far apart the classes are, beside how wide they are."""
        gathered = {label: torch.cat(states) for label, states in self.states.items()}
        self.states.clear()
        centres = torch.stack([states.mean(0) for states in gathered.values()])
        width = sum(states.var(0).mean().item() for states in gathered.values()) / len(gathered) + 1e-6
        return centres.var(0).mean().item() / width


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    trunk = nn.Sequential(nn.Linear(100, 300), nn.ReLU()).cuda()
    head, probe = nn.Linear(300, 4).cuda(), Probe()
    optimizer = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.05)
    for step in range(1, chosen.steps + 1):
        rows, labels = torch.randn(64, 100).cuda(), torch.randint(4, (64,))
        hidden = trunk(rows)
        loss = F.cross_entropy(head(hidden), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        probe.gather(hidden.detach(), labels)
        if step % 8 == 0:
            print(f"step {step}: {probe.fit():.4f}")


if __name__ == "__main__":
    main()
