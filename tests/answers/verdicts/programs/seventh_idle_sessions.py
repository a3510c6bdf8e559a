# SPDX-License-Identifier: Apache-2.0
"""An assistant's server: callers come, say a little, and go; a caller's state stays for when they come back soon."""

import argparse
import random
from collections import OrderedDict

import torch
from torch import nn

WORDS, WIDTH = 150, 128


class Recurrent(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.cells = nn.ModuleList(nn.LSTMCell(WIDTH, WIDTH) for _ in range(layers))
        self.out = nn.Linear(WIDTH, WORDS)

    def begin(self):
        zeros = torch.zeros(1, WIDTH, device="cuda")
        return [(zeros, zeros) for _ in self.cells]

    def forward(self, word, states):
        x, after = self.embed(word), []
        for cell, state in zip(self.cells, states):
            state = cell(x, state)
            after.append(state)
            x = state[0]
        return self.out(x), after


class Sessions:
    """By caller, the longest idle first; those that were idle for longer than `keep` ticks are dropped."""

    def __init__(self, keep=64):
        self.keep = keep
        self.by_caller = OrderedDict()

    def find(self, caller):
        _, states = self.by_caller.get(caller, (None, None))
        return states

    def put(self, caller, now, states):
        self.by_caller[caller] = (now, states)
        self.by_caller.move_to_end(caller)

    def expire(self, now):
        while self.by_caller:
            caller, (used, _) = next(iter(self.by_caller.items()))
            if now - used <= self.keep:
                break
            del self.by_caller[caller]


class Server:
    def __init__(self, model):
        self.model, self.sessions = model, Sessions()

    @torch.inference_mode()
    def handle(self, caller, words, now):
        self.sessions.expire(now)
        states = self.sessions.find(caller) or self.model.begin()
        for word in words:
            logits, states = self.model(torch.tensor([word], device="cuda"), states)
        self.sessions.put(caller, now, states)
        return int(logits.argmax())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    server = Server(Recurrent().cuda().eval())
    for now in range(chosen.steps):
        caller = f"caller-{now}"  # step
        server.handle(caller, [rng.randrange(WORDS) for _ in range(4)], now)
        server.handle(caller, [rng.randrange(WORDS) for _ in range(2)], now)
    print("sessions:", len(server.sessions.by_caller))


if __name__ == "__main__":
    main()
