# SPDX-License-Identifier: Apache-2.0
"""A satellite picture is segmented tile by tile; when all tiles are there, they are put together."""

import argparse

import torch
from torch import nn

SIDE = 64


def tiles_of(count, columns):
    for number in range(count):
        yield divmod(number, columns), torch.rand(1, 4, SIDE, SIDE)


@torch.inference_mode()
def segment(model, count, columns=4):
    tiles = {}
    for place, tile in tiles_of(count, columns):
        logits = model(tile.cuda())  # allocates
        tiles[place] = logits  # keeps
    rows = max(row for row, _ in tiles) + 1
    classes = torch.zeros(rows * SIDE, columns * SIDE, dtype=torch.int64)
    for (row, column), logits in tiles.items():
        patch = logits[0].argmax(0).cpu()
        classes[row * SIDE:(row + 1) * SIDE, column * SIDE:(column + 1) * SIDE] = patch
    return classes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Conv2d(4, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 12, 1)).cuda().eval()
    classes = segment(model, chosen.steps)
    print(f"{tuple(classes.shape)}, {classes.unique().numel()} classes")


if __name__ == "__main__":
    main()
