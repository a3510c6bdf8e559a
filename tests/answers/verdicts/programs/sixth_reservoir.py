# SPDX-License-Identifier: Apache-2.0
"""Dark experience replay: images of a stream, and what the network said of them, in a reservoir."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


class Reservoir:
    """Every example of the stream is as likely to be in it as another."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.seen = 0
        self.examples = []

    def add(self, images, logits):
        for image, said in zip(images, logits):
            if len(self.examples) < self.capacity:
                self.examples.append((image.clone(), said.clone()))
            else:
                place = random.randrange(self.seen + 1)
                if place < self.capacity:
                    self.examples[place] = (image.clone(), said.clone())
            self.seen += 1

    def sample(self, count):
        images, logits = zip(*random.choices(self.examples, k=count))
        return torch.stack(images), torch.stack(logits)


class Learner(nn.Sequential):
    def __init__(self, classes=20):
        super().__init__(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, classes))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--buffer-size", type=int, default=500)
    parser.add_argument("--alpha", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    model, reservoir = Learner().cuda(), Reservoir(args.buffer_size)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
    for step in range(args.steps):
        task = step // 12 % 10  # step
        images = torch.rand(8, 3, 32, 32, device="cuda")
        labels = torch.randint(2 * task, 2 * task + 2, (8,)).cuda()
        logits = model(images)
        loss = F.cross_entropy(logits, labels)
        if reservoir.examples:
            old, said = reservoir.sample(8)
            loss = loss + args.alpha * F.mse_loss(model(old), said)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        reservoir.add(images, logits.detach())


if __name__ == "__main__":
    main()
