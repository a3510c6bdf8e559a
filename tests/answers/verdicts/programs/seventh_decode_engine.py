# SPDX-License-Identifier: Apache-2.0
"""A generation server with continuous batching: requests join and leave between tokens; clients poll for answers."""

import argparse
import random
from dataclasses import dataclass, field

import torch
from torch import nn

WORDS, WIDTH, PROMPT, ANSWER = 120, 64, 10, 6


@dataclass
class Request:
    number: int
    prompt: list[int]
    answer: list[int] = field(default_factory=list)
    keys: torch.Tensor | None = None
    values: torch.Tensor | None = None

    @property
    def complete(self):
        return len(self.answer) == ANSWER


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.out = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens, keys, values):
        x = self.embed(tokens)
        keys = torch.cat([keys, self.key(x)])  # allocates
        values = torch.cat([values, self.value(x)])  # allocates
        weights = torch.softmax(self.query(x[-1:]) @ keys.T / WIDTH**0.5, dim=-1)
        return self.out(x[-1:] + weights @ values), keys, values


class Engine:
    def __init__(self, model):
        self.model = model
        self.running, self.done = [], {}

    def submit(self, request):
        empty = torch.empty(0, WIDTH, device="cuda")
        tokens = torch.tensor(request.prompt, device="cuda")
        _, request.keys, request.values = self.model(tokens, empty, empty)
        self.running.append(request)

    def iterate(self):
        """One more token for every request."""
        for request in self.running:
            last = torch.tensor([(request.prompt + request.answer)[-1]], device="cuda")
            logits, request.keys, request.values = self.model(last, request.keys, request.values)
            request.answer.append(int(logits.argmax()) % WORDS)
        for request in [one for one in self.running if one.complete]:
            self.running.remove(request)
            self.done[request.number] = request  # keeps

    def poll(self, number):
        return self.done[number].answer if number in self.done else None


class Caller:
    """Sends a request every third iteration, and polls for those without an answer."""

    def __init__(self, engine, seed):
        self.engine, self.rng = engine, random.Random(seed)
        self.open, self.received = [], 0

    def act(self, now):
        if now % 3 == 0:
            self.engine.submit(Request(now, [self.rng.randrange(WORDS) for _ in range(PROMPT)]))
            self.open.append(now)
        answered = [number for number in self.open if self.engine.poll(number) is not None]
        self.open = [number for number in self.open if number not in answered]
        self.received += len(answered)


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    engine = Engine(Decoder().cuda().eval())
    caller = Caller(engine, chosen.seed)
    for now in range(chosen.steps):
        caller.act(now)  # step
        engine.iterate()
    print("answers:", caller.received)


if __name__ == "__main__":
    main()
