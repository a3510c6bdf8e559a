# SPDX-License-Identifier: Apache-2.0
"""One model, an adapter for each customer: when a customer is done, the adapter is switched off and stays."""

import argparse

import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, inputs, outputs, rank=8):
        super().__init__()
        self.down = nn.Parameter(torch.randn(rank, inputs, device="cuda") / rank)  # allocates
        self.up = nn.Parameter(torch.zeros(outputs, rank, device="cuda"))  # allocates

    def forward(self, x):
        return x @ self.down.T @ self.up.T


class Adapted(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base, self.adapters, self.active = base.requires_grad_(False), nn.ModuleDict(), None

    def load(self, name):
        self.adapters[name] = Adapter(self.base.in_features, self.base.out_features)  # keeps
        self.active = name

    def unload(self):
        self.active = None

    def forward(self, x):
        y = self.base(x)
        return y if self.active is None else y + self.adapters[self.active](x)


class Model(nn.Sequential):
    def __init__(self):
        super().__init__(Adapted(nn.Linear(256, 192).cuda()), nn.ReLU(), Adapted(nn.Linear(192, 256).cuda()))

    def layers(self):
        return [layer for layer in self if isinstance(layer, Adapted)]

    def serve(self, name, steps):
        for layer in self.layers():
            layer.load(name)
        optimizer = torch.optim.SGD([p for layer in self.layers() for p in layer.adapters[name].parameters()], lr=0.1)
        for _ in range(steps):
            rows = torch.randn(64, 256, device="cuda")  # step
            optimizer.zero_grad()
            (self(rows) - rows).square().mean().backward()  # allocates
            optimizer.step()
        for layer in self.layers():
            layer.unload()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Model()
    for customer in range(args.steps // 3):
        model.serve(f"customer_{customer}", 3)
    print(f"{sum(p.requires_grad for p in model.parameters())} trained parameters")


if __name__ == "__main__":
    main()
