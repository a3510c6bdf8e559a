# SPDX-License-Identifier: Apache-2.0
"""Serves one model to several tenants; a tenant's low-rank adapter is loaded at its first request."""

import argparse
import random
from dataclasses import dataclass

import torch
from torch import nn

TENANTS = ("acme", "borealis", "cobalt", "delta", "ember", "fjord", "granite", "harbor", "indigo", "juniper")


@dataclass
class Adapter:
    down: list
    up: list


class AdapterStore:
    def __init__(self, layers, width, rank):
        self.layers, self.width, self.rank = layers, width, rank
        self.loaded = {}

    def load(self, tenant):
        seed = torch.Generator().manual_seed(TENANTS.index(tenant))
        down = [torch.randn(self.width, self.rank, generator=seed).cuda() for _ in range(self.layers)]
        return Adapter(down, [torch.zeros(self.rank, self.width).cuda() for _ in range(self.layers)])

    def __getitem__(self, tenant):
        if tenant not in self.loaded:
            self.loaded[tenant] = self.load(tenant)
        return self.loaded[tenant]


class Service:
    def __init__(self, layers=3, width=256, rank=16):
        self.base = nn.ModuleList(nn.Linear(width, width) for _ in range(layers)).cuda().eval()
        self.adapters = AdapterStore(layers, width, rank)

    @torch.inference_mode()
    def answer(self, tenant, x):
        adapter = self.adapters[tenant]
        for layer, down, up in zip(self.base, adapter.down, adapter.up):
            x = torch.relu(layer(x) + x @ down @ up)
        return x.argmax(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    service = Service()
    for _ in range(args.steps):
        tenant = random.choice(TENANTS)  # step
        service.answer(tenant, torch.randn(16, 256).cuda())


if __name__ == "__main__":
    main()
