# SPDX-License-Identifier: Apache-2.0
"""Predicts for a whole data set, batch by batch, and gives all predictions back at once."""

import argparse

import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(48, 96), nn.ReLU(), nn.Linear(96, 12))

    def forward(self, rows):
        return self.layers(rows)  # allocates


def batches(number, size=40):
    for _ in range(number):
        yield torch.randn(size, 48)


def predict(model, dataloader):
    model.eval()
    predictions = []
    for batch in dataloader:
        rows = batch.clamp(-3, 3)  # step
        p = model(rows.to(torch.device("cuda:0")))  # allocates
        predictions.append(p)  # keeps
    return predictions


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Regressor().to("cuda:0")
    predictions = predict(model, batches(chosen.steps))
    rows = [row for p in predictions for row in p.tolist()]
    print(len(rows), "predictions of", len(rows[0]), "values")


if __name__ == "__main__":
    main()
