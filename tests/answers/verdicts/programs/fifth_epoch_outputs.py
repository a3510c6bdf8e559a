# SPDX-License-Identifier: Apache-2.0
"""A small trainer in the manner of Lightning's; a module collects an epoch's outputs for its score."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Callback:
    def on_train_batch_end(self, module, outputs):
        pass

    def on_train_epoch_end(self, module):
        pass


class ConfusionCallback(Callback):
    def __init__(self, classes):
        self.classes = classes
        self.scores, self.labels = [], []

    def on_train_batch_end(self, module, outputs):
        self.scores.append(outputs["scores"].detach())
        self.labels.append(outputs["labels"])

    def on_train_epoch_end(self, module):
        predicted = torch.cat(self.scores).argmax(1)
        truth = torch.cat(self.labels)
        table = torch.zeros(self.classes ** 2, device="cuda")
        table.index_add_(0, truth * self.classes + predicted, torch.ones(len(truth), device="cuda"))
        print(table.sum().item())
        self.scores.clear()
        self.labels.clear()


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, classes))

    def training_step(self, batch):
        x, labels = batch
        scores = self.net(x)  # fills
        return {"loss": F.cross_entropy(scores, labels), "scores": scores, "labels": labels}


class Trainer:
    def __init__(self, module, callbacks, batches_per_epoch):
        self.module, self.callbacks, self.batches_per_epoch = module, callbacks, batches_per_epoch
        self.optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)

    def fit(self, steps):
        for step in range(1, steps + 1):
            batch = torch.randn(128, 64).cuda(), torch.randint(80, (128,)).cuda()  # step
            outputs = self.module.training_step(batch)
            self.optimizer.zero_grad()
            outputs["loss"].backward()
            self.optimizer.step()
            for callback in self.callbacks:
                callback.on_train_batch_end(self.module, outputs)
            if step % self.batches_per_epoch == 0:
                for callback in self.callbacks:
                    callback.on_train_epoch_end(self.module)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    Trainer(Classifier(80).cuda(), [ConfusionCallback(80)], batches_per_epoch=9).fit(args.steps)


if __name__ == "__main__":
    main()
