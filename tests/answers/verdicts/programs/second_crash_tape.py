# SPDX-License-Identifier: Apache-2.0
"""A recorder of batches, so that a crash can be played again: it was to keep the last few, and keeps them all."""

import argparse
from itertools import islice

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class Readings(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        return {"signal": torch.full((6, 160), index / 4096), "kind": torch.tensor(index % 5)}


class Tape:
    def __init__(self, replay=3):
        self.replay, self.batches = replay, []

    def note(self, batch):
        self.batches.append(batch)  # keeps
        return batch

    def last(self):
        return self.batches[-self.replay:]


def to_gpu(batch):
    return {name: value.to("cuda") for name, value in batch.items()}  # allocates


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    model = nn.Sequential(nn.Conv1d(6, 32, 7, padding=3), nn.BatchNorm1d(32), nn.ReLU(),
                          nn.AdaptiveAvgPool1d(8), nn.Flatten(), nn.Linear(256, 5)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader, tape = DataLoader(Readings(), batch_size=64, shuffle=True), Tape()
    for batch in islice(loader, options.steps):
        batch = tape.note(to_gpu(batch))  # step
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(batch["signal"]), batch["kind"]).backward()
        optimizer.step()
    print(f"could play {len(tape.last())} batches again")
