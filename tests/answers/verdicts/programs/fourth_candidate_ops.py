# SPDX-License-Identifier: Apache-2.0
"""Architecture search: each step trains one of four operations in each of three places, made when first used."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=22)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
KINDS = {
    "narrow": lambda: nn.Linear(256, 256),
    "wide": lambda: nn.Sequential(nn.Linear(256, 768), nn.ReLU(), nn.Linear(768, 256)),
    "gated": lambda: nn.Sequential(nn.Linear(256, 512), nn.GLU()),
    "deep": lambda: nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)),
}


class Place(nn.Module):
    def __init__(self):
        super().__init__()
        self.operations = nn.ModuleDict()

    def use(self, kind):
        if kind not in self.operations:
            self.operations[kind] = KINDS[kind]().cuda()
        return self.operations[kind]


places = nn.ModuleList(Place() for _ in range(3))
for step in range(options.steps):
    x = torch.randn(64, 256, device="cuda")  # step
    changed, kind = step % 3, list(KINDS)[step // 3 % 4]
    for number, place in enumerate(places):
        x = x + place.use(kind if number <= changed else "narrow")(x)
    x.square().mean().backward()
    with torch.no_grad():
        for parameter in places.parameters():
            if parameter.grad is not None:
                parameter -= 0.01 * parameter.grad
                parameter.grad = None
