# SPDX-License-Identifier: Apache-2.0
"""A GPT that writes text token by token: first with a hand-made KV cache that grows by torch.cat,
then with Hugging Face's generate."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from batches import DEVICE, on_device, options, peak

WIDTH, HEADS, VOCABULARY = 64, 4, 300


class CachedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, hidden, cache):
        batch, length, _ = hidden.shape
        query, key, value = (
            part.view(batch, length, HEADS, -1).transpose(1, 2)
            for part in self.project(hidden).chunk(3, dim=-1)
        )
        if cache is not None:
            key = torch.cat([cache[0], key], dim=2)
            value = torch.cat([cache[1], value], dim=2)
        mixed = nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=cache is None
        )
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH)), (key, value)


class Writer(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(CachedAttention() for _ in range(layers))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    @torch.no_grad()
    def write(self, tokens, count):
        caches = [None] * len(self.layers)
        fresh = tokens
        for _ in range(count):
            hidden = self.tokens(fresh)
            for index, layer in enumerate(self.layers):
                mixed, caches[index] = layer(hidden, caches[index])
                hidden = hidden + mixed
            fresh = self.head(hidden[:, -1:]).argmax(-1)
            tokens = torch.cat([tokens, fresh], dim=1)
        return tokens


def main():
    chosen = options(steps=24)
    prompts = [(torch.randint(VOCABULARY, (4, 12)),), (torch.randint(VOCABULARY, (4, 12)),)]
    writer = Writer().to(DEVICE)
    lengths = [
        writer.write(prompt, chosen.steps).shape[1]
        for (prompt,) in on_device(prompts, chosen.streams)
    ]
    config = GPT2Config(vocab_size=VOCABULARY, n_positions=128, n_embd=64, n_layer=2, n_head=4,
                        bos_token_id=0, eos_token_id=None)
    model = GPT2LMHeadModel(config).to(DEVICE).eval()
    for (prompt,) in on_device(prompts, chosen.streams):
        written = model.generate(
            prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=chosen.steps,
            do_sample=False, pad_token_id=0,
        )
        lengths.append(written.shape[1])
    print(f"kv cache: lengths {lengths}, peak {peak()} bytes")


if __name__ == "__main__":
    main()
