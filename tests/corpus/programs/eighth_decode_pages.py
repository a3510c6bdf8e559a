# SPDX-License-Identifier: Apache-2.0
"""Serves a small decoder to several requests at once; their keys and values lie in blocks of whole pages."""

import argparse
import random
from collections import defaultdict, deque
from dataclasses import dataclass, field

import torch
from torch import nn

PAGE = 16
VOCABULARY = 128


@dataclass
class Request:
    prompt: list
    answer: int  # tokens to write
    tokens: list = field(default_factory=list)
    block: torch.Tensor | None = None

    @property
    def room(self):
        return len(self.prompt) + self.answer


class Pages:
    """Blocks of keys and values by their size; what one request gives back serves another."""

    def __init__(self, width):
        self.width = width
        self.spare = defaultdict(list)

    def take(self, tokens):
        pages = -(-tokens // PAGE)
        if self.spare[pages]:
            return self.spare[pages].pop()
        return torch.empty(2, pages * PAGE, self.width, device="cuda")  # allocates

    def give(self, block, tokens):
        self.spare[tokens].append(block)  # keeps


class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, width)
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, VOCABULARY)

    def forward(self, tokens, block, start):
        query, key, value = self.project(self.words(tokens)).chunk(3, -1)
        end = start + len(tokens)
        block[0, start:end], block[1, start:end] = key, value
        weights = (query @ block[0, :end].T / query.shape[-1] ** 0.5).softmax(-1)
        return self.out(weights @ block[1, :end])[-1]


class Server:
    def __init__(self, width=128, slots=4):
        self.model = Decoder(width).cuda().eval()
        self.pages = Pages(width)
        self.slots = slots
        self.waiting, self.active, self.served = deque(), [], 0

    def admit(self):
        while self.waiting and len(self.active) < self.slots:
            request = self.waiting.popleft()
            request.block = self.pages.take(request.room)
            self.run(request, request.prompt, 0)
            self.active.append(request)

    def run(self, request, tokens, start):
        scores = self.model(torch.tensor(tokens, device="cuda"), request.block, start)
        # The sampler of the real server runs on the host.
        request.tokens.append(hash((len(request.tokens), scores.shape[0])) % VOCABULARY)

    @torch.inference_mode()
    def tick(self):
        self.admit()
        for request in list(self.active):
            if len(request.tokens) < request.answer:
                position = len(request.prompt) + len(request.tokens) - 1
                self.run(request, request.tokens[-1:], position)
                continue
            self.active.remove(request)
            self.pages.give(request.block, request.room)
            self.served += 1


def arrive(waiting, draw):
    """The queue never runs dry."""
    while len(waiting) < 4:
        prompt = [draw.randrange(VOCABULARY) for _ in range(draw.randint(18, 50))]
        waiting.append(Request(prompt, answer=draw.randint(3, 6)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    draw = random.Random(chosen.seed)
    server = Server()
    for _ in range(chosen.steps):
        arrive(server.waiting, draw)  # step
        server.tick()
    print(f"{server.served} requests served")


if __name__ == "__main__":
    main()
