# SPDX-License-Identifier: Apache-2.0
"""Serves many requests at once; keys and values are in blocks, which are made when needed and used again."""

import argparse
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn


class BlockPool:
    def __init__(self, most, tokens, width):
        self.most, self.tokens, self.width = most, tokens, width
        self.free, self.made = [], 0

    def available(self):
        return len(self.free) + self.most - self.made

    def take(self):
        if self.free:
            return self.free.pop()
        self.made += 1
        return torch.empty(2, self.tokens, self.width, device="cuda")

    def give_back(self, blocks):
        self.free.extend(blocks)


class Request:
    def __init__(self, prompt, new_tokens):
        self.prompt, self.end = prompt, new_tokens
        self.begin()

    def begin(self):
        self.token, self.length, self.blocks = self.prompt, 0, []


class Engine:
    def __init__(self, pool, vocabulary=1000, width=128):
        self.pool = pool
        self.embedding = nn.Embedding(vocabulary, width).cuda()
        self.qkv = nn.Linear(width, 3 * width).cuda()
        self.head = nn.Linear(width, vocabulary).cuda()
        self.waiting, self.running = deque(), []

    def preempt(self):
        """The request that came last begins anew when there is room."""
        request = self.running.pop()
        self.pool.give_back(request.blocks)
        request.begin()
        self.waiting.appendleft(request)

    def decode(self, request):
        slot = request.length % self.pool.tokens
        if slot == 0:
            while not self.pool.available():
                self.preempt()
            if request not in self.running:
                return
            request.blocks.append(self.pool.take())
        q, k, v = self.qkv(self.embedding(torch.tensor([request.token], device="cuda"))).chunk(3, dim=-1)
        request.blocks[-1][0, slot], request.blocks[-1][1, slot] = k[0], v[0]
        request.length += 1
        keys, values = torch.cat(request.blocks, dim=1)[:, :request.length]
        request.token = self.head(F.scaled_dot_product_attention(q, keys, values)).argmax().item()

    @torch.inference_mode()
    def step(self):
        if self.waiting and self.pool.available():
            self.running.append(self.waiting.popleft())
        for request in list(self.running):
            if request in self.running:
                self.decode(request)
        done = [one for one in self.running if one.length == one.end]
        self.running = [one for one in self.running if one.length < one.end]
        for request in done:
            self.pool.give_back(request.blocks)
        return len(done)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--blocks", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    random.seed(args.seed)
    engine, served = Engine(BlockPool(args.blocks, tokens=32, width=128)), 0
    for _ in range(args.steps):
        arrived = random.random() < 0.5  # step
        if arrived and len(engine.waiting) < 16:
            engine.waiting.append(Request(random.randrange(1000), random.randint(40, 160)))
        served += engine.step()
    print(served, "served,", engine.pool.made, "blocks")


if __name__ == "__main__":
    main()
