# SPDX-License-Identifier: Apache-2.0
"""Trains a small classifier and reports after each step which tensors there are, by name and size."""

import argparse
import gc
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn


class Reporter:
    """Names tensors after the model's parameters where it can, and numbers the others."""

    def __init__(self, model):
        self.tensor_name = {parameter: name for name, parameter in model.named_parameters()}
        self.by_device = defaultdict(list)
        self.number = 0

    def name_of(self, tensor):
        if tensor not in self.tensor_name:
            self.tensor_name[tensor] = f"Tensor{self.number}"  # keeps
            self.number += 1
        return self.tensor_name[tensor]

    def collect(self):
        self.by_device.clear()
        for found in gc.get_objects():
            if isinstance(found, torch.Tensor):
                self.by_device[found.device].append(found)

    def sizes(self):
        for device, tensors in self.by_device.items():
            for tensor in tensors:
                name = self.name_of(tensor)
                yield device, name, tuple(tensor.shape), tensor.numel() * tensor.element_size()
                if isinstance(tensor, nn.Parameter) and tensor.grad is not None:
                    self.tensor_name[tensor.grad] = f"{name}.grad"
                    yield device, f"{name}.grad", tuple(tensor.grad.shape), tensor.grad.numel() * 4

    def report(self, verbose=False):
        self.collect()
        total = defaultdict(int)
        for device, name, shape, size in self.sizes():
            total[device] += size
            if verbose:
                print(f"{name:<24}{str(shape):>16}{size:>10}")
        return dict(total)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    reporter = Reporter(model)
    for step in range(chosen.steps):
        optimizer.zero_grad()  # step
        rows = torch.randn(64, 128, device="cuda")  # allocates
        labels = torch.randint(10, (64,), device="cuda")  # allocates
        scores = model(rows)  # allocates
        loss = F.cross_entropy(scores, labels)  # allocates
        loss.backward()  # allocates
        optimizer.step()
        totals = reporter.report(verbose=step == 0)
        if step % 8 == 0:
            print(step, {str(device): size for device, size in totals.items()})


if __name__ == "__main__":
    main()
