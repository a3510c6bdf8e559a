# SPDX-License-Identifier: Apache-2.0
"""Identifies a plant with a network that predicts its states some steps ahead, checked on a second set each epoch."""

import argparse

import torch
from torch import nn


class Plant(nn.Module):
    # Its constraints may take derivatives when they are evaluated, too.
    grad_inference = True

    def __init__(self, states=4, inputs=2, width=48):
        super().__init__()
        self.inner = nn.Linear(states + inputs, width)
        self.outer = nn.Linear(width, states)

    def forward(self, batch):
        state, predicted = batch["start"], []
        for step in range(batch["inputs"].shape[1]):
            both = torch.cat([state, batch["inputs"][:, step]], 1)  # allocates
            hidden = torch.tanh(self.inner(both))  # allocates
            state = state + self.outer(hidden)
            predicted.append(state)
        difference = torch.stack(predicted, 1) - batch["states"]  # allocates
        return {batch["name"]: difference.square().mean()}


class Trainer:
    def __init__(self, model, train_data, dev_data):
        self.model, self.train_data, self.dev_data = model, train_data, dev_data
        self.optimizer = torch.optim.Adam(model.parameters(), 0.01)
        self.loss_history = {"train": [], "dev": []}

    def train(self):
        losses = []
        for batch in self.train_data:
            output = self.model(batch)
            self.optimizer.zero_grad()
            output["train_loss"].backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 100.0)
            self.optimizer.step()
            losses.append(output["train_loss"])
        self.loss_history["train"].append(torch.stack(losses).mean())  # allocates

    def check(self):
        with torch.set_grad_enabled(self.model.grad_inference):
            losses = [self.model(batch)["dev_loss"] for batch in self.dev_data]
            mean_dev_loss = torch.stack(losses).mean()  # allocates
            self.loss_history["dev"].append(mean_dev_loss)  # keeps

    def epoch(self):
        self.train()
        self.check()


def batches(name, count, rows=64, ahead=8):
    return [{"name": name, "start": torch.randn(rows, 4, device="cuda"),
             "inputs": torch.randn(rows, ahead, 2, device="cuda"),
             "states": torch.randn(rows, ahead, 4, device="cuda")} for _ in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    trainer = Trainer(Plant().cuda(), batches("train_loss", 5), batches("dev_loss", 3))
    for epoch in range(chosen.steps):
        trainer.epoch()  # step
        if epoch % 5 == 0:
            print(f"epoch {epoch}: {trainer.loss_history['train'][-1].item():.4f}")


if __name__ == "__main__":
    main()
