# SPDX-License-Identifier: Apache-2.0
"""Continuous batching: requests take pages for their keys and values as they get longer, and give them back."""

import argparse
import random
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F

PAGE, WIDTH = 4, 128


@dataclass
class Request:
    wanted: int
    word: int
    done: int = 0
    pages: list = field(default_factory=list)


class Pages:
    """Made when first needed, at most so many, and used again."""

    def __init__(self, most):
        self.most, self.made, self.free = most, 0, []

    def take(self):
        if self.free:
            return self.free.pop()
        if self.made == self.most:
            raise RuntimeError("no page is free")
        self.made += 1
        return torch.zeros(2, 16 * PAGE, WIDTH, device="cuda")


class Engine(nn.Module):
    def __init__(self, places=4):
        super().__init__()
        self.embed, self.out = nn.Embedding(200, WIDTH), nn.Linear(WIDTH, 200)
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.pages, self.running = Pages(places * 4), []

    @torch.inference_mode()
    def advance(self, request):
        if request.done % PAGE == 0:
            request.pages.append(self.pages.take())
        query, key, value = self.project(self.embed(torch.tensor([request.word], device="cuda"))).chunk(3, -1)
        page, place = request.pages[-1], request.done % PAGE
        page[0, place], page[1, place] = key[0], value[0]
        keys, values = (torch.cat([one[kind, :PAGE] for one in request.pages]) for kind in (0, 1))
        seen = F.scaled_dot_product_attention(query[None], keys[None], values[None])
        request.word, request.done = self.out(seen[0]).argmax(-1).item(), request.done + 1
        if request.done == request.wanted:
            self.pages.free += request.pages
            self.running.remove(request)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=46)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng, engine, answered = random.Random(chosen.seed), Engine().cuda().eval(), 0
    for step in range(chosen.steps):
        if len(engine.running) < 4:
            engine.running.append(Request(rng.randint(6, 16), rng.randrange(200)))
        for request in list(engine.running):
            engine.advance(request)
            answered += request.done == request.wanted
    print(f"{answered} requests answered, {engine.pages.made} pages")


if __name__ == "__main__":
    main()
