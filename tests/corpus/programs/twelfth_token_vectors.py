# SPDX-License-Identifier: Apache-2.0
"""Tags the words of many sentences: a tagger embeds the tokens of a mini-batch and labels them."""

import argparse
import random

import torch
from torch import nn

WORDS, LENGTH, TAGS = 3000, 12, ["O", "PER", "LOC", "ORG"]


class Token:
    def __init__(self, text):
        self.text, self.tag = text, None
        self.embeddings = {}

    def set_embedding(self, name, vector):
        self.embeddings[name] = vector  # keeps

    def get_embedding(self):
        return torch.cat([self.embeddings[name] for name in sorted(self.embeddings)])


class Sentence:
    def __init__(self, texts):
        self.tokens = [Token(text) for text in texts]


class WordEmbeddings(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.table = nn.Embedding(WORDS, width)

    def embed(self, sentences):
        ids = torch.tensor([[token.text for token in sentence.tokens] for sentence in sentences]).cuda()
        vectors = self.table(ids)  # allocates
        for sentence, of_sentence in zip(sentences, vectors):
            for token, vector in zip(sentence.tokens, of_sentence):
                token.set_embedding("words", vector)


class SequenceTagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = WordEmbeddings()
        self.linear = nn.Linear(128, len(TAGS))

    @torch.no_grad()
    def predict(self, sentences, embedding_storage_mode="gpu"):
        self.embeddings.embed(sentences)
        rows = torch.stack([token.get_embedding() for sentence in sentences for token in sentence.tokens])
        tags = self.linear(rows).argmax(1).tolist()
        for number, token in enumerate(token for sentence in sentences for token in sentence.tokens):
            token.tag = TAGS[tags[number] % len(TAGS)]
            if embedding_storage_mode == "none":
                token.embeddings.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54, help="mini-batches")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    sentences = [Sentence([rng.randrange(WORDS) for _ in range(LENGTH)]) for _ in range(4 * chosen.steps)]
    tagger = SequenceTagger().cuda().eval()
    for start in range(0, len(sentences), 4):
        mini_batch = sentences[start:start + 4]  # step
        tagger.predict(mini_batch)
    print("tagged", sum(token.tag is not None for sentence in sentences for token in sentence.tokens), "tokens")


if __name__ == "__main__":
    main()
