# SPDX-License-Identifier: Apache-2.0
"""Answers prompts with a small decoder, token by token, with the keys and values of earlier tokens at hand."""

import argparse

import torch
from torch import nn

WORDS, WIDTH, HEADS, BATCH, PROMPT, NEW = 400, 256, 8, 4, 6, 19


class DynamicCache:
    """Keys and values of each layer for the tokens that were seen."""

    def __init__(self):
        self.keys, self.values = [], []

    def update(self, keys, values, layer):
        if layer == len(self.keys):
            self.keys.append(keys)
            self.values.append(values)
        else:
            self.keys[layer] = torch.cat([self.keys[layer], keys], dim=2)  # fills
            self.values[layer] = torch.cat([self.values[layer], values], dim=2)  # fills
        return self.keys[layer], self.values[layer]

    def length(self):
        return self.keys[0].shape[2] if self.keys else 0


class Attention(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.mixed, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, hidden, mask, cache):
        batch, tokens, _ = hidden.shape
        queries, keys, values = (part.reshape(batch, tokens, HEADS, -1).transpose(1, 2).contiguous()  # fills
                                 for part in self.mixed(hidden).chunk(3, -1))
        keys, values = cache.update(keys, values, self.layer)
        scores = queries @ keys.transpose(2, 3) / (WIDTH // HEADS) ** 0.5 + mask[:, None, None].log()
        return self.out((torch.softmax(scores, -1) @ values).transpose(1, 2).reshape(batch, tokens, WIDTH))


class Decoder(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(WORDS, WIDTH), nn.Embedding(128, WIDTH)
        self.attention = nn.ModuleList(Attention(layer) for layer in range(layers))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens, mask, cache):
        first = cache.length()
        places = torch.arange(first, first + tokens.shape[1], device=tokens.device)
        hidden = self.embedding(tokens) + self.positions(places)
        for attention in self.attention:
            hidden = hidden + attention(hidden, mask, cache)
        return self.head(hidden[:, -1:])


@torch.no_grad()
def answer(model, prompt, count):
    cache = DynamicCache()
    tokens = generated = prompt
    mask = torch.ones_like(prompt, dtype=torch.float)
    for _ in range(count):
        logits = model(tokens, mask, cache)  # step
        tokens = logits.argmax(-1)
        generated = torch.cat([generated, tokens], dim=-1)  # fills
        mask = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=-1)  # fills
    return generated.cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=57)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Decoder().cuda().eval()
    for done in range(0, chosen.steps, NEW):
        prompt = torch.randint(WORDS, (BATCH, PROMPT)).cuda()
        generated = answer(model, prompt, min(NEW, chosen.steps - done))
        print(f"prompt {done // NEW}: {tuple(generated.shape)}")


if __name__ == "__main__":
    main()
