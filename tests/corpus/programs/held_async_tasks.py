# SPDX-License-Identifier: Apache-2.0
"""An asyncio service holds on to its tasks, as the documentation asks for, but never lets go of them."""

import argparse
import asyncio
import random

import torch
from torch import nn

class Service:
    def __init__(self, words=500, width=64):
        self.model = nn.Sequential(
            nn.EmbeddingBag(words, width), nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, words),
        ).cuda().eval()
        self.tasks = []

    async def answer(self, texts):
        words = texts.to("cuda", non_blocking=True)
        await asyncio.sleep(0)
        with torch.inference_mode():
            return self.model(words)  # allocates

    def submit(self, texts):
        task = asyncio.create_task(self.answer(texts))
        self.tasks.append(task)  # keeps
        return task


async def client(service, rng):
    texts = torch.randint(500, (32, rng.randrange(8, 65)))
    logits = await service.submit(texts)
    return logits.argmax(1).tolist()


async def serve(steps, rng):
    service = Service()
    answered = 0
    for _ in range(steps):
        for answers in await asyncio.gather(*(client(service, rng) for _ in range(4))):
            answered += len(answers)
    return answered


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    print(asyncio.run(serve(chosen.steps, random.Random(chosen.seed))), "texts answered")


if __name__ == "__main__":
    main()
