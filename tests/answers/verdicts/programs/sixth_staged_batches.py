# SPDX-License-Identifier: Apache-2.0
"""Trains a click model on a stream of batches that are copied to the GPU two ahead, on a stream of their own."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


def click_log(batch=256, dense=48):
    while True:
        yield torch.randn(batch, dense), torch.randint(0, 5000, (batch, 8)), torch.randint(0, 2, (batch,)).float()


class Prefetcher:
    """Iterates over a loader, whose batches it has on the GPU before they are asked for."""

    def __init__(self, loader, ahead=2):
        self.source = iter(loader)
        self.stream = torch.cuda.Stream()
        self.staged = []
        self.position = 0
        for _ in range(ahead):
            self.stage()

    def stage(self):
        batch = next(self.source)
        with torch.cuda.stream(self.stream):
            moved = [part.pin_memory().to("cuda", non_blocking=True) for part in batch]  # allocates
            self.staged.append((moved, self.stream.record_event()))  # keeps

    def __iter__(self):
        return self

    def __next__(self):
        batch, copied = self.staged[self.position]
        torch.cuda.current_stream().wait_event(copied)
        self.position += 1
        self.stage()
        return batch


class ClickModel(nn.Module):
    def __init__(self, ids=5000, width=16):
        super().__init__()
        self.embedding = nn.EmbeddingBag(ids, width, mode="sum")
        self.deep = nn.Sequential(nn.Linear(48 + width, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, dense, ids):
        return self.deep(torch.cat([dense, self.embedding(ids)], dim=1)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = ClickModel().cuda()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
    batches = Prefetcher(click_log())
    for _ in range(args.steps):
        dense, ids, clicked = next(batches)  # step
        loss = F.binary_cross_entropy_with_logits(model(dense, ids), clicked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
