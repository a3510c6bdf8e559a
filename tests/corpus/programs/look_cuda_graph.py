# SPDX-License-Identifier: Apache-2.0
"""Training as a CUDA graph: warm-up, one capture into a private pool, then replays."""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 128)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), capturable=True)
    signal = torch.randn(64, 128, device="cuda")

    def train_step():
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.mse_loss(model(signal), signal)
        loss.backward()
        optimizer.step()
        return loss

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            train_step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = train_step()
    for step in range(chosen.steps):
        signal.copy_(torch.randn(64, 128))
        graph.replay()
        if step % 10 == 0:
            print(f"{step}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
