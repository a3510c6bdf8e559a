# SPDX-License-Identifier: Apache-2.0
"""Linear probing: a frozen network's features of the whole data set first, a linear layer on them then."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Probe:
    def __init__(self, network, loader, classes):
        self.network = network.cuda().eval().requires_grad_(False)
        self.unseen = iter(loader)
        self.classifier = nn.Linear(512, classes).cuda()
        self.optimizer = torch.optim.SGD(self.classifier.parameters(), lr=0.1)
        self.features, self.labels = [], []

    def step(self):
        batch = next(self.unseen, None)
        if batch is not None:
            images, labels = batch
            self.features.append(self.network(images.cuda()))
            self.labels.append(labels.cuda())
            return "features"
        chosen = torch.randint(len(self.features), ()).item()
        loss = F.cross_entropy(self.classifier(self.features[chosen]), self.labels[chosen])
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return "probe"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    data = TensorDataset(torch.rand(576, 3, 16, 16), torch.randint(10, (576,)))
    network = nn.Sequential(nn.Conv2d(3, 32, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
    probe = Probe(network, DataLoader(data, batch_size=32), classes=10)
    for step in range(args.steps):
        done = probe.step()  # step
        print(step, done)


if __name__ == "__main__":
    main()
