# SPDX-License-Identifier: Apache-2.0
"""Evaluates checkpoints of a language model on a stream of tokens, one token at a time, with keys and values cached."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional

WORDS, HEADS, WIDTH, LAYERS = 400, 4, 32, 2
SEPARATORS = frozenset(range(0, WORDS, 6))
EVALUATED = 24


class CacheManager:
    """Keeps the first tokens, separators of those before the last ones, and the last ones, once the cache is full."""

    def __init__(self, init_size=2, separator_size=4, local_size=6, cache_size=16):
        self.init_size, self.separator_size = init_size, separator_size
        self.local_size, self.cache_size = local_size, cache_size
        self.tokens = []

    def __call__(self, past, token):
        self.tokens.append(token)
        if len(self.tokens) < self.cache_size:
            return past
        middle = range(self.init_size, len(self.tokens) - self.local_size)
        separators = [place for place in middle if self.tokens[place] in SEPARATORS][-self.separator_size:]
        kept = [*range(self.init_size), *separators, *range(len(self.tokens) - self.local_size, len(self.tokens))]
        self.tokens = [self.tokens[place] for place in kept]
        index = torch.tensor(kept, device="cuda")
        return [tuple(part.index_select(2, index) for part in layer) for layer in past]  # fills


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(HEADS * WIDTH, 3 * HEADS * WIDTH)

    def forward(self, hidden, past):
        query, key, value = (part.view(1, HEADS, 1, WIDTH) for part in self.qkv(hidden).chunk(3, -1))
        if past is not None:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)  # fills
        else:
            key, value = key.clone(), value.clone()  # fills
        attended = functional.softmax(query @ key.transpose(2, 3) / WIDTH ** 0.5, -1) @ value
        return hidden + attended.reshape(1, -1), (key, value)


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, HEADS * WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(HEADS * WIDTH, WORDS)

    def forward(self, ids, past):
        hidden, caches = self.words(ids), []
        for number, layer in enumerate(self.layers):
            hidden, cache = layer(hidden, None if past is None else past[number])
            caches.append(cache)
        return self.head(hidden), caches


class Evaluation:
    def __init__(self, model, text):
        self.model, self.text = model, text
        self.past, self.nlls, self.manager = None, [], CacheManager()

    @torch.no_grad()
    def advance(self, place):
        logits, past = self.model(torch.tensor([self.text[place]]).cuda(), self.past)
        label = torch.tensor([self.text[place + 1]]).cuda()
        self.nlls.append(functional.cross_entropy(logits, label, reduction="none"))  # fills
        self.past = self.manager(past, self.text[place])

    def perplexity(self):
        return torch.stack(self.nlls).mean().exp().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48, help="tokens")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    text = [rng.randrange(WORDS) for _ in range(EVALUATED + 1)]
    model, evaluation = LanguageModel().cuda().eval(), None
    for step in range(chosen.steps):
        place = step % EVALUATED  # step
        if place == 0:
            evaluation = Evaluation(model, text)
        evaluation.advance(place)
        if place == EVALUATED - 1:
            print(f"perplexity {evaluation.perplexity():.2f}")
            evaluation = None
            with torch.no_grad():  # stands for the next checkpoint
                model.head.weight.mul_(0.99)


if __name__ == "__main__":
    main()
