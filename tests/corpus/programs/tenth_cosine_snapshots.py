# SPDX-License-Identifier: Apache-2.0
"""Trains one network with a learning rate that is restarted, makes an ensemble of it, and predicts with that."""

import argparse
import copy
import itertools
import math

import torch
from torch import nn

FEATURES, CLASSES, BATCHES_PER_EPOCH = 64, 8, 2


def estimator():
    return nn.Sequential(nn.Linear(FEATURES, 128), nn.ReLU(), nn.Linear(128, CLASSES)).cuda()


def batches(number):
    for _ in range(number):
        target = torch.randint(CLASSES, (32,))  # step
        yield torch.randn(32, FEATURES).to("cuda"), target.to("cuda")


class SnapshotEnsemble(nn.Module):
    def __init__(self, n_estimators):
        super().__init__()
        self.n_estimators = n_estimators
        self.estimators_ = nn.ModuleList()

    def forward(self, data):
        output = torch.zeros(len(data), CLASSES, device="cuda")
        for one in self.estimators_:
            output += one(data) / len(self.estimators_)
        return output.softmax(1)

    def fit(self, stream, epochs, init_lr=0.1):
        estimator_ = estimator()
        optimizer = torch.optim.Adam(estimator_.parameters(), lr=init_lr)
        cycle = math.ceil(epochs * BATCHES_PER_EPOCH / self.n_estimators)
        scheduler = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda iteration: 0.5 * (math.cos(math.pi * (iteration % cycle) / cycle) + 1))
        criterion = nn.CrossEntropyLoss()
        epoch_per_estimator = epochs // self.n_estimators
        for epoch in range(epochs):
            for data, target in itertools.islice(stream, BATCHES_PER_EPOCH):
                loss = criterion(estimator_(data), target)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()
            if epoch > 0 and (epoch + 1) % epoch_per_estimator == 0:
                self.estimators_.append(copy.deepcopy(estimator_))

    @torch.no_grad()
    def predict(self, stream):
        correct = seen = 0
        for data, target in stream:
            correct += (self(data).argmax(1) == target).sum().item()
            seen += len(target)
        return 100 * correct / max(1, seen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    stream = batches(chosen.steps)
    ensemble = SnapshotEnsemble(n_estimators=5)
    ensemble.fit(stream, epochs=20)
    print(f"{len(ensemble.estimators_)} estimators, accuracy {ensemble.predict(stream):.1f} %")


if __name__ == "__main__":
    main()
