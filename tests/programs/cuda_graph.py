# SPDX-License-Identifier: Apache-2.0
"""A whole training step captured in a CUDA graph, then replayed; beside it a graphed callable."""

import torch
from torch import nn

from batches import DEVICE, on_device, options, peak


def train_step(model, optimizer, image, label):
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(model(image), label)
    loss.backward()
    optimizer.step()
    return loss


def main():
    chosen = options(steps=5)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                          nn.Linear(512, 10)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True)
    image = torch.zeros(32, 256, device=DEVICE)
    label = torch.zeros(32, dtype=torch.long, device=DEVICE)

    warming = torch.cuda.Stream()
    warming.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warming):
        for _ in range(3):
            train_step(model, optimizer, image, label)
    torch.cuda.current_stream().wait_stream(warming)

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = train_step(model, optimizer, image, label)

    digits = ((torch.rand(32, 256), torch.randint(10, (32,))) for _ in range(chosen.steps))
    losses = []
    for new_image, new_label in on_device(digits, chosen.streams):
        image.copy_(new_image)
        label.copy_(new_label)
        graph.replay()
        losses.append(loss.clone())

    head = torch.cuda.make_graphed_callables(
        nn.Linear(512, 64).to(DEVICE), (torch.zeros(8, 512, device=DEVICE, requires_grad=True),)
    )
    head(torch.zeros(8, 512, device=DEVICE, requires_grad=True)).sum().backward()
    print(f"cuda graph: {len(losses)} replays, peak {peak()} bytes")


if __name__ == "__main__":
    main()
