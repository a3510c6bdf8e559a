# SPDX-License-Identifier: Apache-2.0
"""One pass over sentences sorted by length, as speech recipes do in their first epoch."""

import argparse
import random

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    sentences = sorted((rng.randrange(10, 400) for _ in range(8 * chosen.steps)))
    model = nn.LSTM(40, 96, 2, batch_first=True, bidirectional=True).cuda()
    out = nn.Linear(192, 30).cuda()
    optimizer = torch.optim.Adam([*model.parameters(), *out.parameters()])
    previous = None
    for step in range(chosen.steps):
        lengths = sentences[8 * step : 8 * step + 8]
        features = torch.randn(8, lengths[-1], 40).cuda()
        hidden, _ = model(features)
        scores = out(hidden).log_softmax(-1)
        loss = -scores.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if previous is not None and step % 50 == 0:
            print(tuple(previous.shape), "->", tuple(scores.shape))
        previous = scores.detach()


if __name__ == "__main__":
    main()
