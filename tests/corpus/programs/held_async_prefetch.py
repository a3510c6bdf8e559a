# SPDX-License-Identifier: Apache-2.0
"""Two coroutines prepare batches for a third that trains, through a queue of four."""

import argparse
import asyncio
import random

import torch
from torch import nn
from torch.nn import functional as F

async def produce(queue, batches, rng):
    for _ in range(batches):
        await asyncio.sleep(0.002 * rng.random())
        recording = torch.randn(16, 4000).cuda()
        spectra = recording.unfold(1, 200, 100).square().mean(-1).add(1e-6).log()
        await queue.put((spectra, torch.randint(12, (16,)).cuda()))
    await queue.put(None)


async def train(queue, model, optimizer):
    open_producers, losses = 2, []
    while open_producers:
        item = await queue.get()
        if item is None:
            open_producers -= 1
            continue
        spectra, labels = item
        loss = F.cross_entropy(model(spectra), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


async def run(steps, rng):
    queue = asyncio.Queue(maxsize=4)
    model = nn.Sequential(nn.Linear(39, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 12)).cuda()
    trained = train(queue, model, torch.optim.Adam(model.parameters()))
    shares = (steps // 2, steps - steps // 2)
    return (await asyncio.gather(trained, *(produce(queue, share, rng) for share in shares)))[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    losses = asyncio.run(run(chosen.steps, random.Random(chosen.seed)))
    print(f"{len(losses)} steps, loss {losses[-1]:.4f}")


if __name__ == "__main__":
    main()
