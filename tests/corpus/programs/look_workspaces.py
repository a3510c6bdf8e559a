# SPDX-License-Identifier: Apache-2.0
"""Two tasks that take turns; the second, with its streams and shapes, joins after a while."""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    words = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 128)).cuda()
    pictures = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(128)).cuda()
    pictures(torch.zeros(1, 3, 16, 16, device="cuda"))
    optimizer = torch.optim.SGD([*words.parameters(), *pictures.parameters()], lr=0.01)
    aside = [torch.cuda.Stream() for _ in range(2)]
    for step in range(chosen.steps):
        loss = words(torch.randn(32, 128, device="cuda")).square().mean()
        if step >= chosen.steps // 4:
            stream = aside[0 if step < chosen.steps // 2 else step % 2]
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                seen = pictures(torch.randn(8, 3, 16, 16, device="cuda")).square().mean()
            torch.cuda.current_stream().wait_stream(stream)
            seen.record_stream(torch.cuda.current_stream())
            loss = loss + seen
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
