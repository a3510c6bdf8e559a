# SPDX-License-Identifier: Apache-2.0
"""Speech comes in by pieces, sixteen new callers a step; a caller's state goes after twelve steps of silence."""

import argparse
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Call:
    state: torch.Tensor
    heard: int


class Service(nn.Module):
    def __init__(self, width=320, silence=12):
        super().__init__()
        self.cell, self.words = nn.GRUCell(80, width), nn.Linear(width, 60)
        self.silence, self.calls = silence, {}

    @torch.inference_mode()
    def listen(self, now, pieces):
        for caller, piece in pieces:
            call = self.calls.get(caller)
            state = self.cell(piece[None], call.state if call else None)
            self.calls[caller] = Call(state, now)
            yield self.words(state).argmax(-1).item()
        for caller in [one for one, call in self.calls.items() if now - call.heard >= self.silence]:
            del self.calls[caller]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    service, heard = Service().cuda().eval(), 0
    for now in range(chosen.steps):
        # Each caller speaks in two steps, the first and the third.
        callers = [(start, number) for start in (now, now - 2) for number in range(16)]
        pieces = torch.randn(len(callers), 80).cuda()
        heard += len(list(service.listen(now, zip(callers, pieces))))
    print(f"{heard} pieces heard, {len(service.calls)} callers known")


if __name__ == "__main__":
    main()
