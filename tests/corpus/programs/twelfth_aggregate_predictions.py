# SPDX-License-Identifier: Apache-2.0
"""Trains and validates by turns; a callback puts the predictions of a validation together for what comes after it."""

import argparse

import torch
from torch import nn

TRAINING_BATCHES, VALIDATION_BATCHES = 10, 12


class AggregatePredictions:
    def __init__(self):
        self.predictions_list = []

    def on_step_validation(self, state):
        self.predictions_list.append(state["y_pred"])

    def on_end_validation(self, state):
        state["final_predictions"] = torch.cat(self.predictions_list, 0)

    def on_end_epoch(self, state):
        self.predictions_list = []


class Trial:
    def __init__(self, model, callbacks):
        self.model, self.callbacks = model, callbacks
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.state = {"epoch": 0}

    def call(self, point):
        for callback in self.callbacks:
            getattr(callback, point)(self.state)

    def load(self):
        self.state["x"] = torch.randn(64, 80, device="cuda")
        self.state["y_true"] = torch.randint(0, 20, (64,), device="cuda")

    def training_batch(self):
        self.load()
        self.state["y_pred"] = self.model(self.state["x"])
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.state["y_pred"], self.state["y_true"])
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def validation_batch(self):
        self.load()
        self.state["y_pred"] = self.model(self.state["x"])  # fills
        self.call("on_step_validation")

    def end_of_epoch(self):
        self.call("on_end_validation")
        print(f"epoch {self.state['epoch']}: {len(self.state['final_predictions'])} predictions")
        self.call("on_end_epoch")
        self.state["epoch"] += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(80, 96), nn.ReLU(), nn.Linear(96, 20)).cuda()
    trial = Trial(model, [AggregatePredictions()])
    for step in range(chosen.steps):
        batch = step % (TRAINING_BATCHES + VALIDATION_BATCHES)  # step
        if batch < TRAINING_BATCHES:
            trial.training_batch()
        else:
            trial.validation_batch()
        if batch == TRAINING_BATCHES + VALIDATION_BATCHES - 1:
            trial.end_of_epoch()


if __name__ == "__main__":
    main()
