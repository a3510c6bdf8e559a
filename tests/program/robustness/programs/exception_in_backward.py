# SPDX-License-Identifier: Apache-2.0
"""An exception passes through the engine twice: caught, with training going on, then uncaught."""

import torch

from small_training import Training, counters


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise RuntimeError("backward went wrong")


training = Training()
value = torch.zeros(100, device="cuda", requires_grad=True)
try:
    (Fails.apply(value) * 2).sum().backward()
except RuntimeError as error:
    print("caught:", error)
training.steps(2)
print(counters(), flush=True)
(Fails.apply(value) * 3).sum().backward()
