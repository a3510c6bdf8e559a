# SPDX-License-Identifier: Apache-2.0
"""Learns kinds of events in three stages, from a few sentences; after each stage it goes over the stage's sentences
again and picks some of each kind to be rehearsed in the next."""

import argparse
import random
from itertools import islice

import torch
from torch import nn

STAGES, KINDS, TRAINED, LOOKED_AT, EXEMPLARS, LENGTH = 3, 8, 3, 7, 4, 24


class Tagger(nn.Module):
    def __init__(self, vocabulary=800, width=64):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, STAGES * KINDS)

    def forward_backbone(self, ids):
        return self.layer(self.tokens(ids))

    def forward(self, ids):
        return self.head(self.forward_backbone(ids)[:, 0])


class Sentences:
    """As many batches as there are steps."""

    def __init__(self, steps, draw):
        self.left, self.draw = steps, draw

    def batches(self, stage):
        while self.left:
            self.left -= 1  # step
            labels = [stage * KINDS + self.draw.randrange(KINDS) for _ in range(16)]
            yield [[self.draw.randrange(800) for _ in range(LENGTH)] for _ in labels], labels


class Exemplars:
    def __init__(self, draw):
        self.draw = draw
        self.ids, self.labels, self.radius = [], [], {}

    def rehearsed(self, ids, labels):
        at = self.draw.sample(range(len(self.ids)), min(8, len(self.ids)))
        return ids + [self.ids[i] for i in at], labels + [self.labels[i] for i in at]

    @torch.no_grad()
    def set(self, model, batches):
        representations, data = {}, {}
        for ids, labels in batches:
            hidden = model.forward_backbone(torch.tensor(ids, device="cuda"))  # fills
            for row, label in enumerate(labels):
                representations.setdefault(label, []).append(hidden[row, 0, :])
                data.setdefault(label, []).append(ids[row])
        for label, of_kind in representations.items():
            self.radius[label] = torch.stack(of_kind).var(0, unbiased=False).mean()
            picked = self.draw.sample(data[label], min(EXEMPLARS, len(data[label])))
            self.ids += picked
            self.labels += [label] * len(picked)


def train_batch(model, optimizer, ids, labels):
    logits = model(torch.tensor(ids, device="cuda"))
    loss = nn.functional.cross_entropy(logits, torch.tensor(labels, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def learn_all_stages(sentences, draw):
    """In one order of the stages, from the beginning."""
    model = Tagger().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    exemplars = Exemplars(draw)
    for stage in draw.sample(range(STAGES), STAGES):
        for ids, labels in islice(sentences.batches(stage), TRAINED):
            train_batch(model, optimizer, *exemplars.rehearsed(ids, labels))
        exemplars.set(model, islice(sentences.batches(stage), LOOKED_AT))
    return len(exemplars.ids)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    draw = random.Random(chosen.seed)
    sentences, picked = Sentences(chosen.steps, draw), []
    while sentences.left:
        picked.append(learn_all_stages(sentences, draw))
    print("exemplars of each order:", picked)


if __name__ == "__main__":
    main()
