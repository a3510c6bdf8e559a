# SPDX-License-Identifier: Apache-2.0
"""Training in a functional style: a state is never changed, the next one takes all of it and adds to it."""

import argparse
from dataclasses import dataclass, replace
from functools import reduce

import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class State:
    step: int
    model: nn.Module
    optimizer: torch.optim.Optimizer
    seen: tuple = ()

    def centre(self, last=5):
        return torch.stack(self.seen[-last:]).mean(0)


class Net(nn.Module):
    def __init__(self, width=128, kinds=20):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(64, width), nn.Mish()), nn.Linear(width, kinds)

    def forward(self, rows):
        features = self.body(rows)
        return features, self.head(features)


def advance(state, batch):
    rows, kinds = (part.cuda() for part in batch)  # step
    features, logits = state.model(rows)
    loss = F.cross_entropy(logits, kinds)
    state.optimizer.zero_grad()
    loss.backward()
    state.optimizer.step()
    # One row for each kind: the mean of its features.
    means = F.one_hot(kinds, 20).T.float() @ features.detach()  # allocates
    return replace(state, step=state.step + 1, seen=state.seen + (means,))  # keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=46)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Net().cuda()
    first = State(0, model, torch.optim.AdamW(model.parameters()))
    batches = ((torch.randn(160, 64), torch.arange(160) % 20) for _ in range(args.steps))
    last = reduce(advance, batches, first)
    print(f"{last.step} steps, centre {last.centre().norm().item():.3f}")


if __name__ == "__main__":
    main()
