# SPDX-License-Identifier: Apache-2.0
"""Times greedy decoding: for one prompt after the other, token by token with keys and values of those before."""

import argparse
import time

import torch
from torch import nn

VOCABULARY, WIDTH, LAYERS = 200, 128, 2


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, past):
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        if past is not None:
            key = torch.cat([past[0], key], dim=1)  # fills
            value = torch.cat([past[1], value], dim=1)  # fills
        scores = torch.softmax(query @ key.transpose(1, 2) / WIDTH ** 0.5, -1)
        return x + self.out(scores @ value), (key, value)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList([Attention() for _ in range(LAYERS)])
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, input_ids, past_key_values=None):
        hidden, presents = self.embed(input_ids), []
        for index, layer in enumerate(self.layers):
            hidden, present = layer(hidden, None if past_key_values is None else past_key_values[index])
            presents.append(present)
        return self.head(hidden), presents


@torch.no_grad()
def kv_cache_decode(model, input_ids, max_new_tokens):
    generated = input_ids
    past = None
    start = time.time()
    for _ in range(max_new_tokens):
        last = generated[:, -1:]  # step
        logits, past = model(generated if past is None else last, past)
        next_token = logits[:, -1, :].argmax(-1, keepdim=True)
        generated = torch.cat([generated, next_token], dim=-1)
    return generated[0].tolist(), time.time() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Model().cuda().eval()
    longest = 8
    for done in range(0, chosen.steps, longest):
        prompt = torch.randint(VOCABULARY, (1, 6)).to("cuda")
        tokens, seconds = kv_cache_decode(model, prompt, min(longest, chosen.steps - done))
        print(f"{len(tokens)} tokens in {seconds:.3f} s")


if __name__ == "__main__":
    main()
