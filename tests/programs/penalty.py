# SPDX-License-Identifier: Apache-2.0
"""A critic with a gradient penalty: a backward pass through a backward pass (create_graph=True)."""

import torch
from torch import nn

import told
from batches import DEVICE, on_device, options, peak


def main():
    chosen = options(steps=3)
    critic = nn.Sequential(nn.Linear(2048, 2048), nn.Softplus(), nn.Linear(2048, 2048), nn.Softplus(),
                           nn.Linear(2048, 1)).to(DEVICE)
    optimizer = torch.optim.RMSprop(critic.parameters(), lr=5e-5)
    rows = ((torch.rand(2048, 2048), torch.rand(2048, 2048)) for _ in range(chosen.steps))
    for real, fake in on_device(rows, chosen.streams):
        between = told.inputs(torch.lerp(real, fake, 0.5).requires_grad_())
        slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
        loss = critic(fake).mean() - critic(real).mean() + 10 * (slope.norm(dim=1) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"penalty: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
