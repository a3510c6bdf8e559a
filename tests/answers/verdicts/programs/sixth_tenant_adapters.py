# SPDX-License-Identifier: Apache-2.0
"""Serves one base model to several customers; the low-rank adapter of each is loaded with the first request for it."""

import argparse
import random

import torch
import torch.nn.functional as F
from torch import nn

TENANTS = ["acme", "birch", "cobalt", "delta", "ember", "fjord", "grove", "harbor", "iris", "jasper", "kestrel", "lumen"]


class Base(nn.Module):
    def __init__(self, vocabulary=1000, width=192):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens, adapter):
        x = self.embedding(tokens)
        h = F.gelu(self.up(x) + x @ adapter["up.a"] @ adapter["up.b"])
        x = x + self.down(h) + h @ adapter["down.a"] @ adapter["down.b"]
        return self.head(x[:, -1])


def read_adapter(width=192, rank=16):
    """As a checkpoint would have it."""
    shapes = {"up.a": (width, rank), "up.b": (rank, 4 * width), "down.a": (4 * width, rank), "down.b": (rank, width)}
    return {name: torch.randn(shape) / rank for name, shape in shapes.items()}


class AdapterServer:
    def __init__(self, base):
        self.base = base
        self.adapters = {}
        self.served = dict.fromkeys(TENANTS, 0)

    def adapter(self, tenant):
        if tenant not in self.adapters:
            self.adapters[tenant] = {name: part.cuda() for name, part in read_adapter().items()}
        return self.adapters[tenant]

    @torch.no_grad()
    def answer(self, tenant, prompt, new_tokens=4):
        tokens = prompt.cuda()
        for _ in range(new_tokens):
            logits = self.base(tokens, self.adapter(tenant))
            tokens = torch.cat([tokens, logits.argmax(-1, keepdim=True)], dim=1)
        self.served[tenant] += 1
        return tokens.cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    server = AdapterServer(Base().cuda().eval())
    for _ in range(args.steps):
        tenant = random.choice(TENANTS)  # step
        server.answer(tenant, torch.randint(0, 1000, (2, 20)))
    print(server.served)


if __name__ == "__main__":
    main()
