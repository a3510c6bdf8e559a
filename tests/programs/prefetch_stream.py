# SPDX-License-Identifier: Apache-2.0
"""Embeds documents; a second stream copies the next batch to the GPU while one is worked on."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F


class Prefetcher:
    """Hands out batches that were copied on a stream of their own."""

    def __init__(self, lengths, batch, width, pad_to):
        self.lengths = iter(lengths)
        self.batch = batch
        self.width = width
        self.pad_to = pad_to
        self.stream = torch.cuda.Stream()
        self.preload()

    def preload(self):
        length = next(self.lengths, None)
        if length is None:
            self.following = None
            return
        length = -(-length // self.pad_to) * self.pad_to
        features = torch.empty(self.batch, length, self.width)
        with torch.cuda.stream(self.stream):
            raw = features.cuda(non_blocking=True)
            self.following = (raw - raw.mean(dim=1, keepdim=True)) * 0.5

    def next(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        batch = self.following
        if batch is not None:
            batch.record_stream(torch.cuda.current_stream())
        self.preload()
        return batch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    draw = random.Random(11)

    width = 768
    layer = nn.TransformerEncoderLayer(width, 12, 3072, batch_first=True)
    model = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).cuda().eval()
    lengths = [draw.randrange(60, 1000) for _ in range(40)]
    name, _, amount = chosen.change.partition("=")
    pad_to = 1
    if name == "bucketing":  # to one length, or to parts of the longest: bucketing=1/4
        pad_to = -(-max(lengths) // int(amount.partition("/")[2])) if amount else 1000
    loader = Prefetcher(lengths, 32, width, pad_to)
    batch = loader.next()
    while batch is not None:
        with torch.no_grad():
            vectors = F.normalize(model(batch).mean(dim=1)).cpu()
        batch = loader.next()
    print(vectors.shape)


if __name__ == "__main__":
    main()
