# SPDX-License-Identifier: Apache-2.0
"""Predicts several test sets with one trained network and prints the mean prediction for each of them."""

import argparse

import torch
from torch import nn

BATCHES, ROWS, FEATURES, OUT = 7, 256, 48, 32


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(FEATURES, 128), nn.ReLU(), nn.Linear(128, OUT))

    def predict_step(self, batch, number):
        return self.layers(batch)  # fills


class PredictionLoop:
    """Runs a model over one loader and returns what it predicted for each batch."""

    def __init__(self, return_predictions=True):
        self.return_predictions = return_predictions
        self._predictions = []
        self.current_batch = 0

    def reset(self):
        self._predictions = []
        self.current_batch = 0

    def run(self, model, loader):
        self.reset()
        model.eval()
        with torch.inference_mode():
            for batch in loader:
                self.current_batch += 1  # step
                self.advance(model, batch.cuda())
        return self._predictions if self.return_predictions else None

    def advance(self, model, batch):
        prediction = model.predict_step(batch, self.current_batch)
        if self.return_predictions:
            self._predictions.append(prediction)


def test_set(batches):
    return [torch.randn(ROWS, FEATURES) for _ in range(batches)]


def summary(loop, model, loader):
    predictions = torch.cat(loop.run(model, loader))
    return len(predictions), predictions.mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Regressor().cuda()
    loop = PredictionLoop()
    for done in range(0, chosen.steps, BATCHES):
        rows, mean = summary(loop, model, test_set(min(BATCHES, chosen.steps - done)))
        print(f"test set {done // BATCHES}: {rows} rows, mean {mean:.4f}")


if __name__ == "__main__":
    main()
