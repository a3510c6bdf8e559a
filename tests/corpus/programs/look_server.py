# SPDX-License-Identifier: Apache-2.0
"""An inference server: batches of requests come in, answers go out, counters stay."""

import argparse
import random
from collections import Counter

import torch
from torch import nn


class Server:
    def __init__(self):
        layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
        self.embed = nn.Embedding(5000, 128).cuda()
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda().eval()
        self.classes = nn.Linear(128, 12).cuda()
        self.statistics = Counter()

    @torch.inference_mode()
    def answer(self, requests):
        lengths = [len(request) for request in requests]
        tokens = nn.utils.rnn.pad_sequence(requests, batch_first=True).cuda()
        empty = torch.arange(tokens.shape[1]).cuda() >= torch.tensor(lengths).cuda()[:, None]
        hidden = self.encoder(self.embed(tokens), src_key_padding_mask=empty)
        labels = self.classes(hidden.mean(1)).argmax(-1).tolist()
        self.statistics.update(labels)
        return labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    server = Server()
    for _ in range(chosen.steps):
        requests = [torch.randint(5000, (rng.randrange(8, 129),)) for _ in range(rng.randrange(1, 9))]
        server.answer(requests)
    print(server.statistics.most_common(3))


if __name__ == "__main__":
    main()
