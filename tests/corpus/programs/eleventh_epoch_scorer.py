# SPDX-License-Identifier: Apache-2.0
"""A scikit-learn style wrapper around a point cloud classifier, with callbacks that score an epoch."""

import argparse

import torch
from torch import nn

CLASSES, POINTS = 10, 128


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(3, 32, 1)
        self.conv2 = nn.Conv1d(32, 64, 1)
        self.head = nn.Linear(64, CLASSES)

    def forward(self, points):
        x = torch.relu(self.conv1(points))  # allocates
        x = torch.relu(self.conv2(x))  # allocates
        x = x.max(dim=2).values  # allocates
        return self.head(x)  # allocates


class EpochScoring:
    """Scores the predictions of an epoch that the net made anyway."""

    def __init__(self, name):
        self.name = name

    def on_epoch_begin(self):
        self.y_trues_, self.y_preds_ = [], []

    def on_batch_end(self, y, y_pred, training):
        if training:
            return
        self.y_trues_.append(y)
        self.y_preds_.append(y_pred)  # keeps

    def on_epoch_end(self, history):
        predicted = torch.cat(self.y_preds_).argmax(1)
        history[-1][self.name] = (predicted == torch.cat(self.y_trues_)).float().mean().item()


class NeuralNet:
    def __init__(self, module, callbacks, lr=1e-3):
        self.module_, self.callbacks_, self.history = module.cuda(), callbacks, []
        self.optimizer_ = torch.optim.Adam(self.module_.parameters(), lr=lr)
        self.criterion_ = nn.CrossEntropyLoss()

    def notify(self, name, *arguments):
        for callback in self.callbacks_:
            getattr(callback, name)(*arguments)

    def train_step(self, X, y):
        self.module_.train()
        self.optimizer_.zero_grad()
        y_pred = self.module_(X)
        loss = self.criterion_(y_pred, y)
        loss.backward()
        self.optimizer_.step()
        return y_pred, loss

    def validation_step(self, X, y):
        self.module_.eval()
        y_pred = self.module_(X)
        return y_pred, self.criterion_(y_pred, y)

    def fit_epoch(self, train_batches, valid_batches):
        self.history.append({"train_loss": [], "valid_loss": []})
        self.notify("on_epoch_begin")
        for _ in range(train_batches):
            X, y = torch.randn(4, 3, POINTS, device="cuda"), torch.randint(CLASSES, (4,), device="cuda")
            y_pred, loss = self.train_step(X, y)
            self.history[-1]["train_loss"].append(loss.item())
            self.notify("on_batch_end", y, y_pred, True)
        for index in range(valid_batches):
            first = 4 * index  # step
            X = torch.randn(4, 3, POINTS, device="cuda")  # allocates
            y = (torch.arange(first, first + 4, device="cuda") * 7) % CLASSES  # allocates
            y_pred, loss = self.validation_step(X, y)
            self.history[-1]["valid_loss"].append(loss.item())
            self.notify("on_batch_end", y, y_pred, False)
        self.notify("on_epoch_end", self.history)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    net = NeuralNet(PointNet(), [EpochScoring("valid_acc")])
    net.fit_epoch(train_batches=6, valid_batches=chosen.steps)
    print(f"accuracy {net.history[-1]['valid_acc']:.3f}, last loss {net.history[-1]['valid_loss'][-1]:.4f}")


if __name__ == "__main__":
    main()
