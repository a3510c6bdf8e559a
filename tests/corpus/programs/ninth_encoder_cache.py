# SPDX-License-Identifier: Apache-2.0
"""Serves questions about pictures; a vision encoder turns each picture into embeddings for the decoder."""

import argparse
import hashlib
import random
from collections import OrderedDict

import torch
from torch import nn

PATCHES, WIDTH, PICTURES = 196, 256, 60


class EmbeddingCache:
    """Embeddings of pictures by the hash of their address."""

    def __init__(self, capacity_bytes):
        self.capacity_bytes = capacity_bytes
        self.current_bytes = 0
        self.entries = OrderedDict()
        self.hits = self.misses = 0

    def get(self, key):
        if key not in self.entries:
            self.misses += 1
            return None
        self.entries.move_to_end(key)
        self.hits += 1
        return self.entries[key]

    def set(self, key, tensor):
        size = tensor.element_size() * tensor.numel()
        if size > self.capacity_bytes:
            return False
        if key in self.entries:
            self.forget(self.entries.pop(key))
        while self.current_bytes + size > self.capacity_bytes and self.entries:
            self.forget(self.entries.popitem(last=False)[1])
        self.entries[key] = tensor
        self.current_bytes += size
        return True

    def forget(self, tensor):
        self.current_bytes -= tensor.element_size() * tensor.numel()


class VisionEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 64, 16, stride=16)
        self.layers = nn.Sequential(nn.Linear(64, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, picture):
        return self.layers(self.patches(picture).flatten(2).transpose(1, 2)[0])


def load(address):
    """A picture of random pixels in place of the file."""
    generator = torch.Generator().manual_seed(int(address[-8:-4]))
    return torch.rand(1, 3, 224, 224, generator=generator)


class Server:
    def __init__(self, capacity_bytes):
        self.encoder = VisionEncoder().cuda().eval()
        self.decoder = nn.Linear(WIDTH, 100).cuda().eval()
        self.cache = EmbeddingCache(capacity_bytes)

    def embedding(self, picture):
        address = f"pictures/{picture:04}.png"
        key = hashlib.sha256(address.encode()).hexdigest()
        found = self.cache.get(key)
        if found is None:
            found = self.encoder(load(address).cuda())
            self.cache.set(key, found)
        return found

    @torch.inference_mode()
    def answer(self, pictures):
        seen = torch.cat([self.embedding(picture) for picture in pictures])
        return self.decoder(seen.mean(0)).cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--capacity", type=int, default=24 * PATCHES * WIDTH * 4)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    server = Server(chosen.capacity)
    for _ in range(chosen.steps):
        pictures = rng.sample(range(PICTURES), 2)  # step
        server.answer(pictures)
    print(f"{server.cache.hits} found, {server.cache.misses} encoded, {server.cache.current_bytes} bytes kept")


if __name__ == "__main__":
    main()
