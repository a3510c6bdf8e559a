# SPDX-License-Identifier: Apache-2.0
"""Answers questions about documents; the encoded documents asked about most recently stay on the GPU."""

import argparse
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn


class ContextCache:
    def __init__(self, capacity):
        self.capacity = capacity
        self.contexts = OrderedDict()
        self.hits = 0

    def get(self, name, make):
        if name in self.contexts:
            self.contexts.move_to_end(name)
            self.hits += 1
            return self.contexts[name]
        context = make()
        self.contexts[name] = context
        while len(self.contexts) > self.capacity:
            self.contexts.popitem(last=False)
        return context


class Reader(nn.Module):
    def __init__(self, vocabulary=2000, width=128):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.encode = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
        self.query, self.answer = nn.Linear(width, width), nn.Linear(width, vocabulary)

    def context(self, document):
        x = self.embedding(document)
        return x + self.encode(x)

    def forward(self, question, context):
        q = self.query(self.embedding(question))
        return self.answer(F.scaled_dot_product_attention(q, context, context))


class Service:
    def __init__(self, library, capacity=24):
        self.library = library
        self.reader = Reader().cuda().eval()
        self.cache = ContextCache(capacity)

    @torch.inference_mode()
    def ask(self, document, question):
        context = self.cache.get(document, lambda: self.reader.context(self.library[document].cuda()))
        return self.reader(question.cuda(), context).argmax(-1).tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=34)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    library = torch.randint(0, 2000, (400, 160))
    service = Service(library)
    for _ in range(args.steps):
        document = torch.randint(0, len(library), ()).item()  # step
        service.ask(document, torch.randint(0, 2000, (12,)))
    print(service.cache.hits, "hits")


if __name__ == "__main__":
    main()
