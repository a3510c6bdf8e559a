# SPDX-License-Identifier: Apache-2.0
"""Rectified flow on small images, with the loss of each time weighted by the errors seen there before."""

import argparse
import random
from collections import defaultdict, deque

import torch
from torch import nn


class Velocity(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.of_time = nn.Linear(1, width)
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, images, times):
        hidden = self.first(images) + self.of_time(times[:, None])[:, :, None, None]
        return self.last(torch.nn.functional.silu(hidden))


class ErrorsByTime:
    """The latest eight error maps of each time."""

    def __init__(self, latest=8):
        self.maps = defaultdict(lambda: deque(maxlen=latest))

    def note(self, times, errors):
        for time, error in zip(times, errors):
            self.maps[time].append(error)  # keeps

    def weights(self, times):
        means = []
        for time in times:
            seen = self.maps.get(time)
            means.append(torch.stack(list(seen)).mean() if seen else torch.ones((), device="cuda"))
        return torch.stack(means)


def train_step(model, optimizer, history, images, times):
    noise = torch.randn_like(images)
    on_device = torch.tensor(times, device="cuda")
    blend = on_device.view(-1, 1, 1, 1)
    predicted = model(blend * images + (1 - blend) * noise, on_device)
    errors = (predicted - (images - noise)).square()
    loss = (errors.mean((1, 2, 3)) / history.weights(times)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.note(times, errors.detach().sqrt())  # allocates
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = Velocity().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    history = ErrorsByTime()
    total = 0.0
    for _ in range(chosen.steps):
        times = [rng.random() for _ in range(4)]  # step
        images = torch.rand(4, 3, 16, 16, device="cuda")
        total += train_step(model, optimizer, history, images, times)
    print(f"mean loss {total / chosen.steps:.3f}")


if __name__ == "__main__":
    main()
