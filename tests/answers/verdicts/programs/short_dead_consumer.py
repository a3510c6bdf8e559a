# SPDX-License-Identifier: Apache-2.0
"""A thread turns outputs into statistics; an entry of a kind that it does not know ends it, and nobody looks."""

import argparse
import queue
import threading

import torch
from torch import nn


class Statistics(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.pending = queue.Queue()
        self.totals = {"train": 0.0}

    def run(self):
        while True:
            kind, outputs = self.pending.get()
            if kind not in self.totals:
                print(f"no statistics for {kind!r}")
                return
            self.totals[kind] += outputs.mean().item()

    def add(self, kind, outputs):
        self.pending.put((kind, outputs.detach()))  # keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    statistics = Statistics()
    statistics.start()
    model = nn.Sequential(nn.Linear(40, 160), nn.Tanh(), nn.Linear(160, 96)).cuda()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for step in range(1, chosen.steps + 1):
        rows = torch.randn(64, 40, device="cuda")
        outputs = model(rows)  # allocates
        loss = (outputs[:, :40] - rows).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        statistics.add("probe" if step % 4 == 0 else "train", outputs)
    print(f"loss {loss.item():.4f}, mean of outputs {statistics.totals['train']:.4f}")


if __name__ == "__main__":
    main()
