# SPDX-License-Identifier: Apache-2.0
"""A compiled function over plain tensors: neither module nor optimizer."""

import torch

from compiling import DEVICE, compiled, finish, options, steps


def layer(x, weight, bias):
    y = torch.addmm(bias, x, weight)
    return y * torch.sigmoid(y)


def predict(x, weights, biases):
    for weight, bias in zip(weights, biases):
        x = layer(x, weight, bias)
    return x


def main():
    chosen = options(steps=4)
    sizes = [128, 512, 512, 512, 16]
    weights = [(torch.randn(one, two, device=DEVICE) / one ** 0.5).requires_grad_()
               for one, two in zip(sizes, sizes[1:])]
    biases = [torch.zeros(two, device=DEVICE, requires_grad=True) for two in sizes[1:]]
    network = compiled(chosen, predict)
    batches = ((torch.rand(4096, 128), torch.rand(4096, 16)) for _ in range(chosen.steps))
    for x, y in steps(batches):
        loss = (network(x, weights, biases) - y).square().mean()
        loss.backward()
        with torch.no_grad():
            for one in weights + biases:
                one -= 0.01 * one.grad
                one.grad = None
    finish()


if __name__ == "__main__":
    main()
