# SPDX-License-Identifier: Apache-2.0
"""Reconstructs an object from diffraction patterns, and redraws a panel of image stacks after each iteration."""

import argparse

import torch
from torch import nn


class Figure:
    """One part of the panel; its stacks can be leafed through with the keys."""

    def __init__(self, title):
        self.title = title
        self.shown = 0
        self.pixels = None
        self.callbacks = {}

    def connect(self, function):
        number = len(self.callbacks)
        self.callbacks[number] = function  # keeps
        return number

    def press(self, key):
        for function in self.callbacks.values():
            function(key)


def plot_stack(figure, images):
    def show(index):
        figure.shown = index % images.shape[0]
        figure.pixels = images[figure.shown].cpu()

    def on_key(key):
        show(figure.shown + (1 if key == "up" else -1))

    show(figure.shown)
    figure.connect(on_key)


class Ptychography(nn.Module):
    def __init__(self, modes=4, size=64):
        super().__init__()
        self.probe = nn.Parameter(torch.randn(modes, size, size))
        self.obj = nn.Parameter(torch.randn(size, size))
        self.figures = {title: Figure(title) for title in ("Probe amplitude", "Simulated patterns")}

    def forward(self, shifts):
        patches = torch.stack([self.obj.roll(shift, 0) for shift in shifts])
        return (patches[:, None] * self.probe).square().sum(1)

    def probe_amplitude(self):
        return self.probe.detach().abs()  # allocates

    def simulated(self, shifts):
        with torch.no_grad():
            return self(shifts).sqrt()  # allocates

    def inspect(self, shifts):
        plot_stack(self.figures["Probe amplitude"], self.probe_amplitude())
        plot_stack(self.figures["Simulated patterns"], self.simulated(shifts))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Ptychography().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    shifts = [3 * number for number in range(8)]
    patterns = torch.rand(len(shifts), 64, 64, device="cuda")
    for _ in range(chosen.steps):
        optimizer.zero_grad()  # step
        loss = (model(shifts) - patterns).square().mean()
        loss.backward()
        optimizer.step()
        model.inspect(shifts)
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
