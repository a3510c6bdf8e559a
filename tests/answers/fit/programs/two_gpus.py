# SPDX-License-Identifier: Apache-2.0
"""Trains on two GPUs, of which the second has more layers: as one model in one process, or as a model and a process each.

Prints the most that was reserved on each."""

import argparse
import json
import os
import sys

import torch
from torch import nn

LENGTH, WIDTH = 8192, 1024  # an item of the batch is 32 MiB
LAYERS = (1, 3)

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=1)
parser.add_argument("--process-each", action="store_true")
parser.add_argument("--steps", type=int, default=5)
chosen = parser.parse_args()


def layers(gpu: int) -> nn.Module:
    return nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(LAYERS[gpu]))).to(f"cuda:{gpu}")


def train(gpus: range) -> None:
    parts = [layers(gpu) for gpu in gpus]
    optimizer = torch.optim.SGD([each for part in parts for each in part.parameters()], lr=1e-3)
    for _ in range(chosen.steps):
        hidden = torch.zeros(chosen.batch_size, LENGTH, WIDTH, device=f"cuda:{gpus[0]}")
        for gpu, part in zip(gpus, parts):
            hidden = part(hidden.to(f"cuda:{gpu}"))
        hidden.sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    said = json.dumps({gpu: torch.cuda.max_memory_reserved(gpu) for gpu in gpus})
    os.write(1, f"{said}\n".encode())  # at once: the other process writes, too


if chosen.process_each:
    children = []
    for number in range(2):
        child = os.fork()
        if not child:
            train(range(number, number + 1))
            sys.exit(0)
        children.append(child)
    sys.exit(int(any([os.waitpid(child, 0)[1] for child in children])))
train(range(2))
