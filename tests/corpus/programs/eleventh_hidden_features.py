# SPDX-License-Identifier: Apache-2.0
"""Runs texts through the lower layers of an encoder, then fine-tunes its last layer on what came out."""

import argparse
import random

import torch
from torch import nn

WIDTH, TOKENS, WORDS = 96, 24, 400


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.mix = nn.Linear(TOKENS, TOKENS)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.mix(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x + self.feed(x)  # allocates


class Encoder(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(layers))

    def forward(self, ids=None, inputs_embeds=None):
        x = self.words(ids) if inputs_embeds is None else inputs_embeds
        for layer in self.layers:
            x = layer(x)
        return x


def read_texts(rng, number):
    return [[rng.randrange(WORDS) for _ in range(TOKENS)] for _ in range(number)]


def encode(model, texts, batch):
    model.eval()
    hidden_states_list = []
    for start in range(0, len(texts), batch):
        part = texts[start:start + batch]  # step
        ids = torch.tensor(part, device="cuda")
        with torch.no_grad():
            hidden_states = model(ids)
        hidden_states_list.append(hidden_states)  # keeps
    return hidden_states_list


def fine_tune(last, head, hidden_states_list, labels):
    optimizer = torch.optim.AdamW([*last.parameters(), *head.parameters()], lr=1e-4)
    for hidden_states, label in zip(hidden_states_list, labels):
        target = torch.full((len(hidden_states),), label, device="cuda")
        pooled = last(inputs_embeds=hidden_states)[:, 0]
        loss = nn.functional.cross_entropy(head(pooled), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    lower, last = Encoder(5).cuda(), Encoder(1).cuda()
    head = nn.Linear(WIDTH, 3).cuda()
    texts = read_texts(rng, chosen.steps * chosen.batch)
    hidden_states_list = encode(lower, texts, chosen.batch)
    labels = [rng.randrange(3) for _ in hidden_states_list]
    print(f"{len(texts)} texts, loss {fine_tune(last, head, hidden_states_list, labels):.4f}")


if __name__ == "__main__":
    main()
