# SPDX-License-Identifier: Apache-2.0
"""Programs whose reserved memory depends on the allocator's options, as one_workload.py runs them.

Each is what people do, small enough to be run hundreds of times: sizes are real ones, the steps few.
Random numbers are seeded, and a program asks for the same memory whatever the options are.
"""

import torch
from torch import nn

DEVICE = "cuda"


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


def train(model, batches, optimizer=torch.optim.AdamW, accumulate=1):
    optimizer = optimizer(model.parameters(), lr=1e-3)
    for i, batch in enumerate(batches):
        model(batch).mean().backward()
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()


def blocks(width: int, count: int):
    return nn.Sequential(*(Block(width) for _ in range(count))).to(DEVICE)


def fixed_shapes(draw):
    model = blocks(512, 6)
    train(model, (torch.randn(16, 128, 512, device=DEVICE) for _ in range(5)))


def variable_lengths(draw):
    model = blocks(512, 6)
    train(model, (torch.randn(16, draw.randrange(32, 512), 512, device=DEVICE) for _ in range(14)))


def variable_lengths_sgd(draw):
    model = blocks(384, 8)
    train(model, (torch.randn(draw.randrange(1, 40), draw.randrange(16, 300), 384, device=DEVICE)
                  for _ in range(14)), torch.optim.SGD)


def multi_scale(draw):
    layers = []
    for before, after in ((3, 32), (32, 64), (64, 64), (64, 128)):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1)).to(DEVICE)
    sizes = [160, 192, 224, 256, 288, 320, 352]
    train(model, (torch.randn(4, 3, (side := draw.choice(sizes)), side, device=DEVICE)
                  for _ in range(10)))


def train_and_evaluate(draw):
    model = blocks(512, 4)
    for _ in range(3):
        train(model, (torch.randn(8, 128, 512, device=DEVICE) for _ in range(3)), torch.optim.SGD)
        with torch.no_grad():
            for _ in range(2):
                model(torch.randn(70, draw.randrange(100, 200), 512, device=DEVICE))


def kv_cache_cat(draw):
    with torch.no_grad():
        caches = [torch.zeros(4, 16, 0, 64, device=DEVICE) for _ in range(12)]
        for step in range(90):
            tokens = draw.randrange(1, 24)
            caches = [torch.cat((cache, torch.zeros(4, 16, tokens, 64, device=DEVICE)), dim=2)
                      for cache in caches]


def growing_sequence(draw):
    model = blocks(768, 4)
    head = nn.Linear(768, 8000, device=DEVICE)
    with torch.no_grad():
        for length in range(40, 240, 5):
            head(model(torch.randn(4, length, 768, device=DEVICE)))


def load_and_cast(draw):
    weights = {}
    for i in range(60):
        full = torch.empty(draw.randrange(100_000, 9_000_000), device=DEVICE)
        weights[i] = full.to(torch.float16)
        if i % 3 == 0:
            weights[i] = weights[i][: len(full) // 2].clone()
        del full
    model = blocks(512, 4)
    train(model, (torch.randn(16, 200, 512, device=DEVICE) for _ in range(3)), torch.optim.SGD)


def odd_accumulation(draw):
    model = blocks(512, 5)
    train(model, (torch.randn(draw.choice([3, 5, 7, 11, 13]), draw.randrange(90, 333), 512,
                              device=DEVICE) for _ in range(16)), accumulate=4)


def prefetch(draw):
    model = blocks(512, 4)
    side = torch.cuda.Stream()
    optimizer = torch.optim.AdamW(model.parameters())

    def load():
        with torch.cuda.stream(side):
            return torch.randn(8, draw.randrange(100, 400), 512, device=DEVICE)

    following = load()
    for _ in range(12):
        torch.cuda.current_stream().wait_stream(side)
        batch, following = following, load()
        batch.record_stream(torch.cuda.current_stream())
        model(batch).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def stack_embeddings(draw):
    model = blocks(512, 3)
    kept = []
    with torch.no_grad():
        for _ in range(120):
            kept.append(model(torch.randn(draw.randrange(1, 9), 64, 512, device=DEVICE)).mean(1))
        together = torch.cat(kept)
    train(model, (together[: 64 * 8].view(-1, 8, 512) for _ in range(2)), torch.optim.SGD)


def dynamic_inference(draw):
    model = blocks(1024, 4)
    with torch.no_grad():
        for _ in range(30):
            model(torch.randn(draw.randrange(1, 33), draw.randrange(20, 300), 1024, device=DEVICE))


def generate_and_train(draw):
    model = blocks(512, 4)
    for _ in range(3):
        growing = torch.randn(8, 16, 512, device=DEVICE)
        with torch.no_grad():
            for _ in range(25):
                following = model(growing)[:, -6:]
                growing = torch.cat((growing, following), dim=1)
        train(model, [growing], torch.optim.SGD)


def empty_cache_each_step(draw):
    model = blocks(512, 5)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(10):
        model(torch.randn(12, draw.randrange(50, 400), 512, device=DEVICE)).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.empty_cache()


def lstm(draw):
    model = nn.LSTM(512, 1024, num_layers=2).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(6):
        out, _ = model(torch.randn(draw.randrange(20, 150), 24, 512, device=DEVICE))
        out.mean().backward()
        optimizer.step()
        optimizer.zero_grad()


WORKLOADS = {
    made.__name__: made
    for made in (fixed_shapes, variable_lengths, variable_lengths_sgd, multi_scale,
                 train_and_evaluate, kv_cache_cat, growing_sequence, load_and_cast,
                 odd_accumulation, prefetch, stack_embeddings, dynamic_inference,
                 generate_and_train, empty_cache_each_step, lstm)
}
