# SPDX-License-Identifier: Apache-2.0
"""A decoder with a cache of its own, as large from the start as it will ever be: buffers k_cache and
v_cache of a module in each layer. --chunked reads the prompt in pieces."""

import torch
from torch import nn

import told
from batches import DEVICE, on_device, options, peak
from decoder import HEAD, HEADS, LAYERS, Decoder
from variant import flag

CHUNKED = flag("--chunked")
BATCH, PROMPT, LONGEST, PIECE = 24, 384, 512, 64


class LayerCache(nn.Module):
    def __init__(self):
        super().__init__()
        shape = (BATCH, HEADS, LONGEST, HEAD)
        self.register_buffer("k_cache", torch.zeros(shape, device=DEVICE), persistent=False)
        self.register_buffer("v_cache", torch.zeros(shape, device=DEVICE), persistent=False)
        told.kv_cache(self.k_cache, self.v_cache)

    def update(self, place, key, value):
        until = place + key.shape[2]
        self.k_cache[:, :, place:until] = key
        self.v_cache[:, :, place:until] = value
        return self.k_cache[:, :, :until], self.v_cache[:, :, :until]


class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(LayerCache() for _ in range(LAYERS))
        self.place = 0

    def update(self, layer, key, value):
        return self.layers[layer].update(self.place, key, value)


@torch.inference_mode()
def generate(model, prompt, steps):
    cache = model.cache
    cache.place = 0
    pieces = prompt.split(PIECE, 1) if CHUNKED else [prompt]
    for piece in pieces:
        logits = model(piece, cache)
        cache.place += piece.shape[1]
    written = [logits.argmax(-1, keepdim=True)]
    for _ in range(steps - 1):
        written.append(model(written[-1], cache).argmax(-1, keepdim=True))
        cache.place += 1
    return torch.cat([prompt, *written], 1)


def main():
    chosen = options(steps=24)
    model = Decoder().to(DEVICE).eval()
    model.cache = Cache()
    prompts = ((torch.randint(4000, (BATCH, PROMPT)),) for _ in range(2))
    for (prompt,) in on_device(prompts, chosen.streams):
        written = generate(model, prompt, chosen.steps)
    print(f"static cache: {tuple(written.shape)}, peak {peak()} bytes")


if __name__ == "__main__":
    main()
