# SPDX-License-Identifier: Apache-2.0
"""Conversations of three to eight turns, at first one at a time, later six; the last turn drops keys and values."""

import argparse
import random
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Conversation:
    turns: int
    past: list = field(default_factory=list)


class Model(nn.Module):
    def __init__(self, words=100, width=160):
        super().__init__()
        self.embed, self.mix = nn.Embedding(words, width), nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, words)

    @torch.inference_mode()
    def turn(self, conversation, words):
        query, key, value = self.mix(self.embed(words)).chunk(3, -1)
        conversation.past.append((key.clone(), value.clone()))
        keys, values = (torch.cat(side, 1) for side in zip(*conversation.past))
        conversation.turns -= 1
        return self.out(F.scaled_dot_product_attention(query, keys, values))[:, -1].argmax(-1).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=42)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--callers", type=int, default=6)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng, model, running, ended = random.Random(args.seed), Model().cuda().eval(), [], 0
    for step in range(args.steps):
        allowed = min(1 + step // 4, args.callers)  # step
        while len(running) < allowed:
            running.append(Conversation(rng.randint(3, 8)))
        for conversation in running:
            model.turn(conversation, torch.randint(100, (1, 24)).cuda())
        ended += sum(not one.turns for one in running)
        running = [one for one in running if one.turns]
    print(f"{ended} conversations ended")


if __name__ == "__main__":
    main()
