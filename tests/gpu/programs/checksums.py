# SPDX-License-Identifier: Apache-2.0
"""Trains a few steps by deterministic kernels and prints what came of it, bit for bit."""

import hashlib
import sys

import torch
from torch import nn

STEPS = 4


def transformer():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.1)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), (4, 16, 64)


def convolutions():
    return nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 8, 3),
                         nn.Flatten(), nn.Linear(8 * 12 * 12, 10)), (4, 3, 16, 16)


def recurrent():
    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells = nn.GRU(32, 64, 2, batch_first=True)

        def forward(self, x):
            return self.cells(x)[0][:, -1]

    return Last(), (4, 10, 32)


def graph():
    return nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64)), (8, 64)


def digest(tensors) -> str:
    found = hashlib.sha256()
    for tensor in tensors:
        found.update(tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes())
    return found.hexdigest()


def train(model, shape) -> list[float]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(STEPS):
        batch = torch.randn(shape, device="cuda")
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def replay(model, shape) -> list[float]:
    """The forward pass as a CUDA graph."""
    static = torch.randn(shape, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), torch.no_grad():
        model(static)
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(captured):
        result = model(static).square().mean()
    found = []
    for _ in range(STEPS):
        static.copy_(torch.randn(shape, device="cuda"))
        captured.replay()
        found.append(result.item())
    return found


def main() -> None:
    kind = sys.argv[1]
    torch.manual_seed(7)
    torch.use_deterministic_algorithms(True)
    model, shape = globals()[kind]()
    model = model.to("cuda")
    losses = (replay if kind == "graph" else train)(model, shape)
    print([loss.hex() for loss in losses])
    print(digest(model.state_dict().values()))
    print(digest([torch.cuda.get_rng_state(), torch.get_rng_state()]))
    stats = torch.cuda.memory_stats()
    print({key: stats[key] for key in sorted(stats) if key.endswith((".peak", ".allocated"))})


main()
