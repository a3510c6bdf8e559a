# SPDX-License-Identifier: Apache-2.0
"""Beam search with keys and values of all beams, put in a new order at each word."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F

class Decoder(nn.Module):
    def __init__(self, words=300, width=96):
        super().__init__()
        self.embed, self.out = nn.Embedding(words, width), nn.Linear(width, words)
        self.project = nn.Linear(width, 3 * width)

    def forward(self, words, cache):
        query, key, value = self.project(self.embed(words)).chunk(3, -1)
        if cache is not None:
            key, value = torch.cat([cache[0], key], 1), torch.cat([cache[1], value], 1)  # fills
        seen = F.scaled_dot_product_attention(query, key, value)
        return self.out(seen[:, -1]).log_softmax(-1), (key, value)


@torch.inference_mode()
def search(model, prompt, length, beams=4):
    scores, cache = model(prompt.expand(beams, -1), None)
    total, last = scores[0].topk(beams)
    answer = last[:, None]
    for _ in range(length):
        scores, cache = model(last[:, None], cache)
        total, places = (total[:, None] + scores).flatten().topk(beams)
        parents, last = places // 300, places % 300
        cache = tuple(part.index_select(0, parents) for part in cache)  # fills
        answer = torch.cat([answer[parents], last[:, None]], 1)
    return answer[total.argmax()].tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = Decoder().cuda().eval()
    answers = []
    for _ in range(chosen.steps):
        prompt = torch.randint(300, (1, rng.randrange(16, 128))).cuda()
        answers.append(search(model, prompt, rng.randrange(6, 16)))
    print(f"{sum(map(len, answers)) / len(answers):.1f} words")


if __name__ == "__main__":
    main()
