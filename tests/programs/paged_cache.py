# SPDX-License-Identifier: Apache-2.0
"""Paged keys and values: of each layer one pool of pages, a list of those that are free, and for each
request the table of its own; its pages are gathered for attention."""

import torch

import told
from batches import DEVICE, on_device, options, peak
from decoder import HEAD, HEADS, LAYERS, Decoder

PAGES, PAGE = 384, 32


class Pages:
    def __init__(self):
        self.pools = [told.kv_cache(torch.zeros(PAGES, 2, HEADS, PAGE, HEAD, device=DEVICE))
                      for _ in range(LAYERS)]
        self.free = list(range(PAGES))


class Request:
    """The cache as the decoder sees it: one request's tokens in the pages of all layers."""

    def __init__(self, pages):
        self.pages, self.table, self.length = pages, [], 0

    def reserve(self, tokens):
        while len(self.table) * PAGE < self.length + tokens:
            self.table.append(self.pages.free.pop())
        self.rows = torch.tensor(self.table, device=DEVICE)
        self.places = torch.arange(self.length, self.length + tokens, device=DEVICE)
        self.length += tokens

    def update(self, layer, key, value):
        pool = self.pages.pools[layer]
        pages, slots = self.rows[self.places // PAGE], self.places % PAGE
        pool[pages, 0, :, slots] = key[0].transpose(0, 1)
        pool[pages, 1, :, slots] = value[0].transpose(0, 1)
        gathered = pool[self.rows]
        keys, values = (gathered[:, which].transpose(0, 1).reshape(1, HEADS, -1, HEAD)[:, :, :self.length]
                        for which in (0, 1))
        return keys, values

    def release(self):
        self.pages.free += self.table


@torch.inference_mode()
def main():
    chosen = options(steps=12)
    model = Decoder().to(DEVICE).eval()
    pages = Pages()
    prompts = ((torch.randint(4000, (1, 100 + 60 * (number % 5))),) for number in range(16))
    waiting = list(prompts)
    running = []
    for _ in range(chosen.steps):
        while waiting and len(running) < 8:
            (prompt,) = next(on_device([waiting.pop()], chosen.streams))
            request = Request(pages)
            request.reserve(prompt.shape[1])
            running.append((request, [model(prompt, request).argmax(-1, keepdim=True)]))
        for request, written in running:
            request.reserve(1)
            written.append(model(written[-1], request).argmax(-1, keepdim=True))
        for done in [one for one in running if len(one[1]) > 6]:
            done[0].release()
            running.remove(done)
    print(f"paged cache: {len(pages.free)} free pages, peak {peak()} bytes")


if __name__ == "__main__":
    main()
