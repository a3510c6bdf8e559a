# SPDX-License-Identifier: Apache-2.0
"""Fits a tensor train to a given tensor by gradient descent, with a loop that takes the loss function as an
argument."""

import argparse
from functools import reduce

import torch

PRINT_EVERY = 20


class TensorTrain:
    def __init__(self, shape, rank):
        ranks = [1] + [rank] * (len(shape) - 1) + [1]
        self.cores = [torch.randn(ranks[i], size, ranks[i + 1], device="cuda").mul_(0.3).requires_grad_()
                      for i, size in enumerate(shape)]

    def full(self):
        result = self.cores[0]
        for core in self.cores[1:]:
            result = torch.tensordot(result, core, dims=1)
        return result.squeeze(0).squeeze(-1)


def optimize(tensor, loss_function, max_iter):
    """The loss function takes the tensor train; it gives a scalar, or several that are added."""
    optimizer = torch.optim.Adam(tensor.cores, lr=1e-2)
    losses = []
    for iteration in range(max_iter):
        optimizer.zero_grad()  # step
        loss = loss_function(tensor)
        if not isinstance(loss, (tuple, list)):
            loss = [loss]
        total = reduce(lambda x, y: x + y, loss)  # allocates
        losses.append(total)  # keeps
        delta_loss = losses[-1] - losses[-2] if len(losses) >= 2 else None
        if (iteration + 1) % PRINT_EVERY == 0:
            print(f"iter: {iteration + 1:<6} | loss: " + " + ".join(f"{term.item():10.6f}" for term in loss)
                  + f" | change {delta_loss.item():.2e}")
        total.backward()
        optimizer.step()
    return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    shape = (12, 14, 10, 8)
    wanted = torch.rand(*shape, device="cuda")
    train = TensorTrain(shape, rank=4)

    def loss_function(tensor):
        misfit = (tensor.full() - wanted).square().mean()
        size = sum(core.square().sum() for core in tensor.cores)
        return misfit, 1e-4 * size

    losses = optimize(train, loss_function, chosen.steps)
    print(f"from {losses[0].item():.4f} to {losses[-1].item():.4f}")


if __name__ == "__main__":
    main()
