# SPDX-License-Identifier: Apache-2.0
"""One conversation that never forgets: every turn is appended to the prompt and all is read again."""

import argparse
import random

import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self, words=800, width=64):
        super().__init__()
        self.embed, self.out = nn.Embedding(words, width), nn.Linear(width, words)
        self.layer = nn.TransformerEncoderLayer(width, 4, 128, batch_first=True)

    def forward(self, tokens):
        return self.out(self.layer(self.embed(tokens))[:, -1])


class Conversation:
    def __init__(self, model):
        self.model, self.history = model, torch.zeros(1, 1, dtype=torch.long, device="cuda")

    @torch.inference_mode()
    def say(self, words):
        self.history = torch.cat([self.history, words.cuda()], 1)  # allocates
        answer = self.model(self.history).argmax(-1, keepdim=True)
        self.history = torch.cat([self.history, answer], 1)  # allocates
        return answer.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    talk = Conversation(Reader().cuda().eval())
    for turn in range(chosen.steps):
        talk.say(torch.randint(800, (1, rng.randrange(16, 33))))
    print(tuple(talk.history.shape))


if __name__ == "__main__":
    main()
