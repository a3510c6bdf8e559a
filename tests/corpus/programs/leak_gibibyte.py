# SPDX-License-Identifier: Apache-2.0
"""A simulation whose states are all kept for a film: a gibibyte a step."""

import argparse

import torch


def laplacian(field):
    total = -6 * field
    for axis in range(3):
        total += field.roll(1, axis)
        total += field.roll(-1, axis)
    return total


def simulate(size, steps):
    field = torch.rand(size, size, size, device="cuda")
    film = []
    for step in range(steps):
        field = field + 0.1 * laplacian(field)  # allocates
        film.append(field)  # keeps
    return film


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    # 645 ** 3 floats are a gibibyte.
    film = simulate(size=645, steps=chosen.steps)
    print(len(film), "frames")


if __name__ == "__main__":
    main()
