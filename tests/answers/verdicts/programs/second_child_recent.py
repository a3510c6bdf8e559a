# SPDX-License-Identifier: Apache-2.0
"""A process of its own judges samples on the same GPU, and compares them with those of its last eight rounds."""

import argparse
from collections import deque

import torch
import torch.multiprocessing as mp
from torch import nn


def judge(samples, answers, rounds):
    look = nn.Sequential(nn.Linear(50, 256), nn.ReLU(), nn.Linear(256, 256)).cuda()
    recent = deque(maxlen=rounds)
    with torch.inference_mode():
        while (rows := samples.get()) is not None:
            features = look(torch.tensor(rows, device="cuda"))  # step
            near = min((torch.dist(features, one).item() for one in recent), default=0.0)
            recent.append(features)
            answers.put(near)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    context = mp.get_context("spawn")
    samples, answers = context.SimpleQueue(), context.SimpleQueue()
    child = context.Process(target=judge, args=(samples, answers, 8))
    child.start()
    maker = nn.Sequential(nn.Linear(10, 100), nn.ReLU(), nn.Linear(100, 50)).cuda()
    optimizer = torch.optim.Adam(maker.parameters())
    for _ in range(args.steps):
        rows = maker(torch.randn(128, 10, device="cuda"))
        optimizer.zero_grad()
        (rows.mean(0).square().mean() - rows.var(0).mean()).backward()
        optimizer.step()
        samples.put(rows.tolist())
        nearest = answers.get()
    samples.put(None)
    child.join()
    print(f"nearest {nearest:.3f}")


if __name__ == "__main__":
    main()
