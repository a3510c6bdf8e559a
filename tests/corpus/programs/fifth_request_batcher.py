# SPDX-License-Identifier: Apache-2.0
"""Dynamic batching: requests are embedded when they come in, and answered together once there are twelve."""

import argparse
import itertools
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Request:
    number: int
    embedded: torch.Tensor
    answer: int | None = None


class Batcher:
    def __init__(self, model, max_batch):
        self.model, self.max_batch = model, max_batch
        self.waiting = []

    def submit(self, request):
        self.waiting.append(request)
        if len(self.waiting) < self.max_batch:
            return []
        batch, self.waiting = self.waiting, []
        return self.run(batch)

    def run(self, batch):
        answers = self.model(torch.stack([request.embedded for request in batch])).argmax(-1).tolist()
        return [(request.number, answer) for request, answer in zip(batch, answers)]


class Classifier(nn.Module):
    def __init__(self, width=256, classes=40):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(width, 4, width, batch_first=True)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.layer(x).mean(1))


class Frontend:
    def __init__(self, vocabulary=500, width=256):
        self.embed = nn.Embedding(vocabulary, width).cuda()
        self.numbers = itertools.count()

    def receive(self, text):
        return Request(next(self.numbers), self.embed(text.cuda()))  # fills


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=41)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-batch", type=int, default=12)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    frontend, batcher = Frontend(), Batcher(Classifier().cuda().eval(), args.max_batch)
    with torch.no_grad():
        for _ in range(args.steps):
            text = torch.randint(500, (64,))  # step
            for number, answer in batcher.submit(frontend.receive(text)):
                print(number, answer)


if __name__ == "__main__":
    main()
