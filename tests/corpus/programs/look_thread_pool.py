# SPDX-License-Identifier: Apache-2.0
"""A service with four threads, each with its own stream, that answers requests of all sizes."""

import argparse
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

MODEL = nn.Sequential(nn.Conv1d(4, 32, 9), nn.ReLU(), nn.Conv1d(32, 32, 9), nn.ReLU(), nn.AdaptiveAvgPool1d(1))
MINE = threading.local()


@torch.inference_mode()
def answer(length):
    if not hasattr(MINE, "stream"):
        MINE.stream = torch.cuda.Stream()
    with torch.cuda.stream(MINE.stream):
        signal = torch.randn(2, 4, length).cuda(non_blocking=True)
        return MODEL(signal).flatten(1).cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    MODEL.cuda().eval()
    with ThreadPoolExecutor(4) as pool:
        lengths = [rng.randrange(64, 2048) for _ in range(chosen.steps)]
        results = list(pool.map(answer, lengths))
    print(torch.stack(results).shape)


if __name__ == "__main__":
    main()
