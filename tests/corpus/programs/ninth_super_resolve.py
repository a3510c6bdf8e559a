# SPDX-License-Identifier: Apache-2.0
"""Gives recordings their high frequencies back by following a learned flow from noise to sound, one recording after
another."""

import argparse

import torch
from torch import nn

POINTS = 6


class Flow(nn.Module):
    """The velocity at a time, given the narrow recording."""

    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(3, width, 9, padding=4), nn.SiLU(), nn.Conv1d(width, 1, 9, padding=4))

    def forward(self, time, x, narrow):
        return self.layers(torch.cat([x, narrow, time.expand_as(x)], 1))


def odeint(velocity, start, times):
    """All points of the way, by Euler's rule."""
    points, x = [start], start
    for before, after in zip(times[:-1], times[1:]):
        x = x + (after - before) * velocity(before, x)
        points.append(x)
    return torch.stack(points)  # allocates


class Solver:
    def __init__(self, flow):
        self.flow = flow
        self.times = torch.linspace(0, 1, POINTS, device="cuda")

    def simulate(self, narrow):
        xs = odeint(lambda time, x: self.flow(time, x, narrow), torch.randn_like(narrow), self.times)
        return xs[-1]


class Enhancer:
    def __init__(self, flow):
        self.solver = Solver(flow)

    @torch.no_grad()
    def enhance(self, narrow):
        return self.solver.simulate(narrow)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    enhancer = Enhancer(Flow().cuda().eval())
    restored = []
    for _ in range(chosen.steps):
        narrow = torch.randn(1, 1, 2048, device="cuda")  # step
        restored.append(enhancer.enhance(narrow))  # keeps
    print(f"{len(restored)} recordings, loudest {max(one.abs().max().item() for one in restored):.3f}")


if __name__ == "__main__":
    main()
