# SPDX-License-Identifier: Apache-2.0
"""Continuous batching: six slots, in each a request with its keys and values, which it gives up when it is done."""

import argparse
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

LAYERS, WIDTH = 2, 256


@dataclass
class Request:
    longest: int
    keys: list = field(default_factory=lambda: [[] for _ in range(LAYERS)])
    values: list = field(default_factory=lambda: [[] for _ in range(LAYERS)])
    length: int = 0


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.ModuleList(nn.Linear(WIDTH, 3 * WIDTH) for _ in range(LAYERS))

    def forward(self, x, request):
        for layer, project in enumerate(self.qkv):
            q, k, v = project(x).chunk(3, -1)
            request.keys[layer].append(k)
            request.values[layer].append(v)
            keys, values = torch.cat(request.keys[layer]), torch.cat(request.values[layer])
            x = x + F.softmax(q @ keys.T / WIDTH ** 0.5, -1) @ values
        request.length += 1
        return x


class Scheduler:
    def __init__(self, model, slots, longest, apart):
        self.model, self.longest, self.apart = model, longest, apart
        self.slots = [None] * slots
        self.steps = 0

    def admit(self):
        """One request at a time, so that not all are read in at once."""
        if self.steps % self.apart == 0 and None in self.slots:
            self.slots[self.slots.index(None)] = Request(self.longest)

    @torch.inference_mode()
    def step(self):
        self.admit()
        for place, request in enumerate(self.slots):
            if request is None:
                continue
            self.model(torch.randn(4, WIDTH).cuda(), request)
            if request.length == request.longest:
                self.slots[place] = None
        self.steps += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=58)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-tokens", type=int, default=24)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    scheduler = Scheduler(Decoder().cuda().eval(), slots=6, longest=args.max_tokens, apart=4)
    for _ in range(args.steps):
        scheduler.step()  # step


if __name__ == "__main__":
    main()
