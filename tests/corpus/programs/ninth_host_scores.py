# SPDX-License-Identifier: Apache-2.0
"""Labels a large table of rows with a trained network on the GPU and gathers the scores on the CPU."""

import argparse

import torch
from torch import nn

ROWS, FEATURES, CLASSES = 128, 64, 5


def network():
    return nn.Sequential(nn.Linear(FEATURES, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, CLASSES))


def table(batches):
    for _ in range(batches):
        yield torch.randn(ROWS, FEATURES)


def infer(model, batches):
    model.eval()
    predicted = torch.empty(0, CLASSES)
    for rows in batches:
        count = len(predicted)  # step
        rows = rows.cuda()  # allocates
        scores = model(rows)  # allocates
        predicted = torch.cat((predicted, scores.cpu()))  # keeps
        if count % (10 * ROWS) == 0:
            print(count, "rows are labelled")
    return predicted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    predicted = infer(network().cuda(), table(chosen.steps))
    print("of each label:", torch.bincount(predicted.argmax(1), minlength=CLASSES).tolist())


if __name__ == "__main__":
    main()
