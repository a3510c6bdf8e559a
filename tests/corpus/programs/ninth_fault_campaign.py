# SPDX-License-Identifier: Apache-2.0
"""Injects faults into the weights of a classifier, one experiment after the other, and counts changed labels."""

import argparse
import random

import torch
from torch import nn


class Injector:
    """Puts random faults into the weights of the linear layers of a model whenever it runs."""

    def __init__(self, model, rate, rng):
        self.model, self.rate, self.rng = model, rate, rng
        self.golden = False
        self.add_hooks()

    def add_hooks(self):
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.add_hook(module, {"name": name, "rate": self.rate, "weight_copy": None})

    def add_hook(self, module, config):
        def before(module, inputs):
            self.inject(module.weight, config)

        module.register_forward_pre_hook(before)  # keeps

    @torch.no_grad()
    def inject(self, weight, config):
        # Each run begins from the weights as they were.
        if config["weight_copy"] is None:
            config["weight_copy"] = weight.clone()  # allocates
        else:
            weight.copy_(config["weight_copy"])
        if self.golden:
            return
        count = max(1, int(config["rate"] * weight.numel()))
        places = [self.rng.randrange(weight.numel()) for _ in range(count)]
        weight.view(-1)[torch.tensor(places, device=weight.device)] *= -1.0

    @torch.no_grad()
    def __call__(self, rows, golden=False):
        self.golden = golden
        return self.model(rows)


def experiment(model, rows, rate, rng):
    injector = Injector(model, rate, rng)
    expected = injector(rows, golden=True).argmax(1)
    found = injector(rows).argmax(1)
    return (expected != found).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
    model.eval()
    rows = torch.randn(64, 128, device="cuda")
    rates = [1e-4, 3e-4, 1e-3, 3e-3]
    changed = []
    for number in range(chosen.steps):
        rate = rates[number % len(rates)]  # step
        changed.append((rate, experiment(model, rows, rate, rng)))
    for rate, share in changed[-len(rates):]:
        print(f"rate {rate:g}: {share:.3f} of the labels changed")


if __name__ == "__main__":
    main()
