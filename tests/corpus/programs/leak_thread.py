# SPDX-License-Identifier: Apache-2.0
"""A thread turns batches into spectra for the training loop, and notes what it has made."""

import argparse
import queue
import threading

import torch
from torch import nn


class Preprocessor(threading.Thread):
    def __init__(self, steps):
        super().__init__(daemon=True)
        self.steps = steps
        self.ready = queue.Queue(maxsize=2)
        self.made = {}

    def run(self):
        window = torch.hann_window(256, device="cuda")
        for step in range(self.steps):
            sound = torch.randn(8, 32, 256).cuda()
            spectra = (sound * window).square().unfold(2, 64, 64).sum(-1)  # allocates
            self.made[step] = spectra  # keeps
            self.ready.put(spectra)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Flatten(), nn.Linear(128, 32), nn.ReLU(), nn.Linear(32, 4)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    preprocessor = Preprocessor(chosen.steps)
    preprocessor.start()
    for step in range(chosen.steps):
        spectra = preprocessor.ready.get()
        optimizer.zero_grad()
        model(spectra).square().mean().backward()
        optimizer.step()
    preprocessor.join()


if __name__ == "__main__":
    main()
