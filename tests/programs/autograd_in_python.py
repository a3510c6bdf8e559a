# SPDX-License-Identifier: Apache-2.0
"""Python that runs on autograd's own threads: a Function's backward, hooks, recomputation."""
import torch
from torch.utils.checkpoint import checkpoint

DEVICE = "cuda"


class Square(torch.autograd.Function):
    @staticmethod
    def forward(context, value):
        context.save_for_backward(value)
        return value * value

    @staticmethod
    def backward(context, gradient):
        (value,) = context.saved_tensors
        scratch = torch.empty(1000, device=DEVICE)
        del scratch
        return 2 * value * gradient


def recomputed(value):
    return torch.relu(value) + torch.ones_like(value)


def main():
    model = torch.nn.Linear(64, 64, device=DEVICE)
    model.weight.register_hook(lambda gradient: gradient.clone())
    model.register_full_backward_hook(lambda module, into, out: tuple(g.clone() for g in into))
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(8):
        value = torch.rand(32, 64, device=DEVICE, requires_grad=True)
        result = Square.apply(model(value))
        result = checkpoint(recomputed, result, use_reentrant=False)
        result = checkpoint(recomputed, result, use_reentrant=True)
        result.sum().backward()
        optimizer.step()
        optimizer.zero_grad()


main()
