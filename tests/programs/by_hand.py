# SPDX-License-Identifier: Apache-2.0
"""A hand-written loop: plain tensors as weights, the update written out, no nn.Module."""

import torch
from torch.nn import functional

from batches import DEVICE, on_device, options, peak


def main():
    chosen = options(steps=4)
    sizes = [512, 2048, 2048, 100]
    weights = [
        (torch.randn(wide, narrow, device=DEVICE) / wide ** 0.5).requires_grad_()
        for wide, narrow in zip(sizes, sizes[1:])
    ]
    offsets = [torch.zeros(narrow, device=DEVICE, requires_grad=True) for narrow in sizes[1:]]
    trained = weights + offsets
    rows = ((torch.rand(2048, 512), torch.randint(100, (2048,))) for _ in range(chosen.steps))
    for row, label in on_device(rows, chosen.streams):
        hidden = row
        for weight, offset in zip(weights[:-1], offsets[:-1]):
            hidden = torch.relu(hidden @ weight + offset)
        loss = functional.cross_entropy(hidden @ weights[-1] + offsets[-1], label)
        loss.backward()
        with torch.no_grad():
            for parameter in trained:
                parameter -= 0.01 * parameter.grad
                parameter.grad = None
    print(f"by hand: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
