# SPDX-License-Identifier: Apache-2.0
"""Active learning: every few steps the images of which the network is least sure are labelled, until none is left."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Pool:
    """Unlabelled images stay in host memory; the labelled ones are trained on, and on the GPU."""

    def __init__(self, count, size=32):
        self.unlabelled = list(torch.rand(count, 3, size, size))
        self.images, self.labels = [], []

    def label(self, places):
        for place in sorted(places, reverse=True):
            self.images.append(self.unlabelled.pop(place).cuda())
            self.labels.append(int(torch.randint(0, 10, ())))

    @torch.no_grad()
    def least_sure(self, model, count, batch=64):
        entropies = []
        for start in range(0, len(self.unlabelled), batch):
            likely = model(torch.stack(self.unlabelled[start:start + batch]).cuda()).softmax(1)
            entropies.append(-(likely * likely.clamp(min=1e-9).log()).sum(1).cpu())
        return torch.cat(entropies).topk(min(count, len(self.unlabelled))).indices.tolist()

    def batch(self, count):
        chosen = torch.randint(0, len(self.images), (count,)).tolist()
        labels = torch.tensor([self.labels[one] for one in chosen])
        return torch.stack([self.images[one] for one in chosen]), labels.cuda()


class Network(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(32, 10))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=42)
    parser.add_argument("--pool", type=int, default=240)
    parser.add_argument("--query", type=int, default=12)
    parser.add_argument("--query-every", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    pool, model = Pool(args.pool), Network().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        due = step % args.query_every == 0  # step
        if due and pool.unlabelled:
            pool.label(pool.least_sure(model, args.query))
        images, labels = pool.batch(16)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
