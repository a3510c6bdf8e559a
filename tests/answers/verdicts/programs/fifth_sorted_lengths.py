# SPDX-License-Identifier: Apache-2.0
"""Translation; each epoch takes the sentences from the shortest to the longest, to save padding."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class SortedBatches:
    """Batches of sentences of about the same length, the short ones first."""

    def __init__(self, lengths, batch_size):
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        self.batches = [order[at:at + batch_size] for at in range(0, len(order), batch_size)]
        self.lengths = lengths

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        for members in self.batches:
            longest = max(self.lengths[member] for member in members)
            yield torch.randint(1, 600, (len(members), longest)), torch.randint(1, 600, (len(members), longest))


class Translator(nn.Module):
    def __init__(self, vocabulary=600, width=64):
        super().__init__()
        self.source, self.target = nn.Embedding(vocabulary, width), nn.Embedding(vocabulary, width)
        self.body = nn.Transformer(width, 4, 1, 1, 128, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, source, target):
        return self.head(self.body(self.source(source), self.target(target)))


def endless(batches):
    while True:
        yield from batches


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    lengths = (8 + torch.randperm(320) // 12).tolist()
    batches = endless(SortedBatches(lengths, batch_size=16))
    model = Translator().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for _ in range(args.steps):
        source, target = (part.cuda() for part in next(batches))  # step
        logits = model(source, target)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
