# SPDX-License-Identifier: Apache-2.0
"""Tags sentences with entities; the vectors of words come from a large table on the CPU."""

import argparse
import random
from functools import lru_cache

import torch
from torch import nn

VOCABULARY, LENGTH, WORDS, SENTENCES, TAGS = 4000, 100, 10, 2, 9


class Token:
    def __init__(self, text):
        self.text = text
        self.embeddings = {}

    def embedding(self):
        return torch.cat(list(self.embeddings.values()))


class WordEmbeddings:
    """Static vectors of words. The table stays on the CPU; the vectors of frequent words need not be copied anew."""

    def __init__(self, name, cache_size):
        self.name = name
        self.rows = {f"word{number}": number for number in range(VOCABULARY)}
        self.table = torch.randn(VOCABULARY, LENGTH)
        self.get_cached_vec = lru_cache(maxsize=cache_size)(self.get_vec)

    def get_vec(self, word):
        row = self.rows.get(word.lower())
        vector = self.table[row] if row is not None else torch.zeros(LENGTH)
        return vector.cuda()

    def embed(self, sentences):
        for sentence in sentences:
            for token in sentence:
                token.embeddings[self.name] = self.get_cached_vec(token.text)


class Tagger(nn.Module):
    def __init__(self, embeddings):
        super().__init__()
        self.embeddings = embeddings
        self.layers = nn.Sequential(nn.Linear(LENGTH, 64), nn.Tanh(), nn.Linear(64, TAGS))

    @torch.no_grad()
    def predict(self, sentences):
        self.embeddings.embed(sentences)
        stacked = torch.stack([token.embedding() for sentence in sentences for token in sentence])
        tags = self.layers(stacked.view(len(sentences), -1, LENGTH)).argmax(-1).cpu()
        for sentence in sentences:
            for token in sentence:
                token.embeddings.clear()
        return tags


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache-size", type=int, default=600)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    embeddings = WordEmbeddings("glove", chosen.cache_size)
    tagger = Tagger(embeddings).cuda().eval()
    # Few words are frequent and most are rare, as Zipf has it.
    frequency = [1 / (number + 3) for number in range(VOCABULARY)]
    for _ in range(chosen.steps):
        drawn = rng.choices(range(VOCABULARY), frequency, k=SENTENCES * WORDS)  # step
        tokens = [Token(f"word{number}") for number in drawn]
        tagger.predict([tokens[first:first + WORDS] for first in range(0, len(tokens), WORDS)])
    print(embeddings.get_cached_vec.cache_info())


if __name__ == "__main__":
    main()
