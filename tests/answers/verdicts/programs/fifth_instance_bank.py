# SPDX-License-Identifier: Apache-2.0
"""Instance discrimination: the feature of every picture of the data set, as it was when last seen."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, features=2048):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
                                 nn.Flatten(), nn.Linear(256, features))

    def forward(self, images):
        return F.normalize(self.net(images), dim=1)


class Bank:
    def __init__(self, momentum=0.5):
        self.momentum = momentum
        self.features = {}

    def update(self, indices, features):
        for index, feature in zip(indices.tolist(), features):
            before = self.features.get(index)
            self.features[index] = feature.clone() if before is None else before.lerp(feature, self.momentum)

    def loss(self, indices, features, temperature=0.1):
        known = [number for number, index in enumerate(indices.tolist()) if index in self.features]
        if not known:
            return features.pow(2).mean()
        bank = torch.stack(list(self.features.values()))
        place = {index: number for number, index in enumerate(self.features)}
        wanted = torch.tensor([place[indices[number].item()] for number in known]).cuda()
        return F.cross_entropy(features[known] @ bank.T / temperature, wanted)


def epochs(loader):
    while True:
        yield from loader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    pictures = TensorDataset(torch.arange(160), torch.rand(160, 3, 16, 16))
    batches = epochs(DataLoader(pictures, batch_size=8, shuffle=True))
    encoder, bank = Encoder().cuda(), Bank()
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.03)
    for _ in range(args.steps):
        indices, images = next(batches)  # step
        features = encoder(images.cuda())
        loss = bank.loss(indices, features)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank.update(indices, features.detach())


if __name__ == "__main__":
    main()
