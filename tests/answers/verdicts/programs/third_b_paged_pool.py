# SPDX-License-Identifier: Apache-2.0
"""Continuous batching over pages of 16 words: a request takes them as it gets longer, and gives them back to a pool."""

import argparse

import torch
from torch import nn

PAGE, WIDTH = 16, 256


class Pool:
    def __init__(self):
        self.free, self.made = [], 0

    def take(self):
        if self.free:
            return self.free.pop()
        self.made += 1
        return torch.empty(PAGE, 2 * WIDTH, device="cuda")


class Request:
    def __init__(self, number):
        self.left, self.length, self.pages = 40 + 12 * (number % 3), 0, []

    def write(self, states, pool):
        for state in states:
            if self.length % PAGE == 0:
                self.pages.append(pool.take())
            self.pages[-1][self.length % PAGE] = state
            self.length += 1
        self.left -= len(states)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=8, help="requests at a time")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    embed, mix = nn.Embedding(200, WIDTH).cuda(), nn.Linear(WIDTH, 2 * WIDTH).cuda()
    pool, running, number = Pool(), [], 0
    with torch.inference_mode():
        for step in range(args.steps):
            if step % 2 == 0 and len(running) < args.most:
                running.append(Request(number))
                number += 1
            states = mix(embed(torch.randint(200, (len(running), 4), device="cuda")))  # step
            for request, new in zip(running, states):
                request.write(new, pool)
            for request in [one for one in running if one.left <= 0]:
                running.remove(request)
                pool.free.extend(request.pages)
    print(f"{pool.made} pages, {len(pool.free)} of them free")


if __name__ == "__main__":
    main()
