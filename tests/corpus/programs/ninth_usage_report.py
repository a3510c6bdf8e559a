# SPDX-License-Identifier: Apache-2.0
"""Trains a regression and prints after every update which tensors there are, by name, shape and size."""

import argparse
import gc
from collections import defaultdict

import torch
from torch import nn


class Reporter:
    """Names tensors after the model's parameters, others by numbers."""

    def __init__(self, model):
        self.tensor_name = {}
        self.device_mapping = defaultdict(list)
        self.index = 0
        for name, parameter in model.named_parameters():
            self.tensor_name[parameter] = name

    def name_of(self, tensor):
        if tensor not in self.tensor_name:
            self.tensor_name[tensor] = f"{type(tensor).__name__}{self.index}"  # keeps
            self.index += 1
        return self.tensor_name[tensor]

    def collect(self):
        self.device_mapping.clear()
        for one in gc.get_objects():
            if isinstance(one, torch.Tensor) and one.is_cuda:
                self.device_mapping[one.device].append(one)

    def report(self):
        self.collect()
        lines = []
        for device, tensors in self.device_mapping.items():
            lines.append(f"on {device}: {len(tensors)} tensors")
            for tensor in tensors:
                size = tensor.numel() * tensor.element_size()
                lines.append(f"{self.name_of(tensor):<20}{tuple(tensor.shape)!s:>16}{-(-size // 512) * 512:>10}")
        return lines


def train_batch(model, optimizer, reporter):
    rows = torch.randn(256, 48, device="cuda")  # allocates
    optimizer.zero_grad()
    prediction = model(rows)  # allocates
    loss = (prediction - rows[:, :8]).square().mean()  # allocates
    loss.backward()  # allocates
    optimizer.step()
    return reporter.report()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 8)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    reporter = Reporter(model)
    for step in range(chosen.steps):
        last = step + 1 == chosen.steps  # step
        lines = train_batch(model, optimizer, reporter)
        print("\n".join(lines) if last else lines[0])


if __name__ == "__main__":
    main()
