# SPDX-License-Identifier: Apache-2.0
"""Serves a decoder: a request's keys and values have their own room, which is made when it is let in."""

import argparse
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

LAYERS, WIDTH, LONGEST = 3, 128, 64


@dataclass
class Request:
    number: int
    token: torch.Tensor
    tokens_left: int = 7
    length: int = 0


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(400, WIDTH)
        self.qkv = nn.ModuleList(nn.Linear(WIDTH, 3 * WIDTH) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, 400)

    def forward(self, token, cache, at):
        x = self.embed(token)
        for layer, project in enumerate(self.qkv):
            q, k, v = project(x).chunk(3, -1)
            cache[0, layer, at], cache[1, layer, at] = k[0], v[0]
            keys, values = cache[:, layer, :at + 1]
            x = x + F.softmax(q @ keys.T / WIDTH ** 0.5, -1) @ values
        return self.head(x).argmax(-1)


class Engine:
    def __init__(self, model):
        self.model = model
        self.active = {}
        self.caches = {}

    def admit(self, request):
        self.active[request.number] = request
        room = torch.zeros(2, LAYERS, LONGEST, WIDTH, device="cuda")  # allocates
        self.caches[request.number] = room  # keeps

    @torch.inference_mode()
    def step(self):
        for number, request in list(self.active.items()):
            request.token = self.model(request.token, self.caches[number], request.length)
            request.length += 1
            request.tokens_left -= 1
            if request.tokens_left == 0:
                self.finish(number)

    def finish(self, number):
        self.active.pop(number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=26)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    engine = Engine(Decoder().cuda().eval())
    for step in range(args.steps):
        arrives = step % 3 == 0  # step
        if arrives:
            engine.admit(Request(step, torch.randint(400, (1,)).cuda()))
        engine.step()


if __name__ == "__main__":
    main()
