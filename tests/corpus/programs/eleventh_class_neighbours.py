# SPDX-License-Identifier: Apache-2.0
"""Self-supervised training that classifies held-out images, every epoch, by their nearest neighbours."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

CLASSES, FEATURES, BATCH = 8, 128, 48


class WeightedKNNClassifier:
    def __init__(self, k=20, temperature=0.07):
        self.k, self.temperature = k, temperature
        self.reset()

    def reset(self):
        self.train_features, self.train_targets = [], []
        self.test_features, self.test_targets = [], []

    def update(self, features, targets, training):
        if training:
            self.train_features.append(features.detach())
            self.train_targets.append(targets)
        else:
            self.test_features.append(features.detach())
            self.test_targets.append(targets)

    @torch.no_grad()
    def compute(self):
        train, targets = torch.cat(self.train_features), torch.cat(self.train_targets)
        test, truth = torch.cat(self.test_features), torch.cat(self.test_targets)
        nearness, indices = torch.mm(F.normalize(test), F.normalize(train).t()).topk(min(self.k, len(train)))
        neighbours = torch.gather(targets.expand(len(test), -1), 1, indices)
        weights = (nearness / self.temperature).exp()
        votes = (F.one_hot(neighbours.clamp(0, CLASSES - 1), CLASSES) * weights[..., None]).sum(1)
        accuracy = (votes.argmax(1) == truth).float().mean().item()
        self.reset()
        return accuracy


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2),
                                      nn.ReLU(), nn.Flatten(), nn.Linear(32 * 5 * 5, FEATURES))
        self.projector = nn.Linear(FEATURES, 64)

    def forward(self, images):
        features = self.backbone(images)  # fills
        return features, F.normalize(self.projector(features))


def draw_batch(number):
    targets = (torch.arange(BATCH, device="cuda") + number) % CLASSES  # fills
    return torch.randn(BATCH, 3, 24, 24, device="cuda"), targets


def contrast(one, other):
    scores = one @ other.t() / 0.2
    return F.cross_entropy(scores, torch.arange(len(one), device="cuda"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--epoch", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model, knn = Learner().cuda(), WeightedKNNClassifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(chosen.steps):
        images, targets = draw_batch(step)  # step
        features, one = model(images)
        loss = contrast(one, model(images + 0.1 * torch.randn_like(images))[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        knn.update(features, targets, training=True)
        if (step + 1) % chosen.epoch == 0:
            with torch.no_grad():
                for number in range(4):
                    images, targets = draw_batch(number)
                    knn.update(model(images)[0], targets, training=False)
            print(f"step {step + 1}: loss {loss.item():.4f}, accuracy {knn.compute():.3f}")


if __name__ == "__main__":
    main()
