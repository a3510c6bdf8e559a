# SPDX-License-Identifier: Apache-2.0
"""Training with neither modules nor an optimizer: nothing tells where a step begins."""

import torch

STEPS = 12


def predict(value, first, second):
    return torch.relu(value @ first) @ second


def main():
    first = torch.zeros(256, 512, device="cuda", requires_grad=True)
    second = torch.zeros(512, 16, device="cuda", requires_grad=True)
    for _ in range(STEPS):
        value = torch.rand(64, 256).to("cuda")  # a step begins
        wanted = torch.zeros(64, 16).to("cuda")
        loss = (predict(value, first, second) - wanted).square().mean()
        loss.backward()
        with torch.no_grad():
            for weight in (first, second):
                weight -= 0.1 * weight.grad
                weight.grad = None


if __name__ == "__main__":
    main()
