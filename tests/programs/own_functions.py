# SPDX-License-Identifier: Apache-2.0
"""Custom autograd Functions, one that saves and one that keeps tensors itself, with L-BFGS: its
closure runs forward and backward inside of the optimizer's step. --offload moves what autograd saves
to the CPU."""

import contextlib
import sys

import torch
from torch import nn

from batches import DEVICE, on_device, options, peak

OFFLOAD = "--offload" in sys.argv


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        gate = value.sigmoid()
        ctx.save_for_backward(value, gate)
        return value * gate

    @staticmethod
    def backward(ctx, slope):
        value, gate = ctx.saved_tensors
        return slope * (gate + value * gate * (1 - gate))


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        ctx.doubled = 2 * value
        return value * value

    @staticmethod
    def backward(ctx, slope):
        return slope * ctx.doubled


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(1024, 1024) for _ in range(4))

    def forward(self, value):
        for layer in self.layers:
            value = Swish.apply(layer(value))
        return Square.apply(value).mean()


def main():
    if OFFLOAD:
        sys.argv.remove("--offload")
    chosen = options(steps=2)
    model = Network().to(DEVICE)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3, history_size=4)
    for (rows,) in on_device(((torch.rand(4096, 1024),) for _ in range(chosen.steps)), chosen.streams):
        def again():
            optimizer.zero_grad()
            keep = torch.autograd.graph.save_on_cpu() if OFFLOAD else contextlib.nullcontext()
            with keep:
                loss = model(rows)
            loss.backward()
            return loss

        optimizer.step(again)
    print(f"own functions: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
