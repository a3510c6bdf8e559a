# SPDX-License-Identifier: Apache-2.0
"""Predicts the right-hand picture of a stereo pair from the left-hand one, one pair at a time."""

import argparse

import torch
from torch import nn

SIDE = 60


def build_model():
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(),
        nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(),
        nn.Conv2d(8, 1, 3, padding=1), nn.Sigmoid())


def load_left(index):
    """A picture with a bright column where the object stands."""
    picture = torch.zeros(1, 1, SIDE, SIDE)
    picture[..., index % SIDE] = 1
    return picture


def predict(model, pairs):
    right = []
    for i in range(pairs):
        picture = load_left(i)  # step
        left = picture.cuda()  # allocates
        temp = model(left).view(-1, 1, SIDE, SIDE)  # allocates
        right.append(temp.to("cpu"))  # keeps
        del temp
        torch.cuda.empty_cache()
    return right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = build_model().cuda()
    model.eval()
    right = torch.cat(predict(model, chosen.steps))
    print("pictures", tuple(right.shape), "mean", round(right.mean().item(), 4))


if __name__ == "__main__":
    main()
