# SPDX-License-Identifier: Apache-2.0
"""Sessions that were not heard of for nine minutes end; a new one begins each minute."""

import argparse
from dataclasses import dataclass

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=16)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


@dataclass
class Session:
    memory: torch.Tensor
    heard: int


class Service:
    def __init__(self, patience):
        self.cell, self.patience, self.sessions = nn.GRUCell(64, 512).cuda(), patience, {}

    @torch.no_grad()
    def hear(self, name, minute, x):
        session = self.sessions.get(name)
        before = session.memory if session else torch.zeros(128, 512, device="cuda")
        self.sessions[name] = Session(self.cell(x, before), minute)

    def sweep(self, minute):
        for name in [name for name, one in self.sessions.items() if minute - one.heard >= self.patience]:
            del self.sessions[name]


service = Service(patience=9)
for minute in range(options.steps):
    x = torch.randn(128, 64, device="cuda")  # step
    service.hear(f"caller {minute}", minute, x)
    service.sweep(minute)
