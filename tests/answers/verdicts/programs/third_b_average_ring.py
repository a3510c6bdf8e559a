# SPDX-License-Identifier: Apache-2.0
"""Diffusion with averaged weights: a copy of the average every four steps, of which the last seven are compared."""

import argparse

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Denoiser(nn.Module):
    def __init__(self, size=192, width=256):
        super().__init__()
        self.enter, self.level, self.leave = nn.Linear(size, width), nn.Embedding(100, width), nn.Linear(width, size)

    def forward(self, noisy, level):
        return self.leave(torch.nn.functional.silu(self.enter(noisy) + self.level(level)))


class Ring:
    def __init__(self, size):
        self.slots, self.count = [None] * size, 0

    def put(self, weights):
        self.slots[self.count % len(self.slots)] = {name: one.clone() for name, one in weights.items()}
        self.count += 1

    def spread(self):
        return [torch.stack(one).std(0).mean() for one in
                zip(*(slot.values() for slot in self.slots if slot))] if self.count > 1 else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=42)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net, ring = Denoiser().cuda(), Ring(7)
    average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.99))
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-4)
    for step in range(args.steps):
        clean = torch.randn(64, 192).cuda()  # step
        level, noise = torch.randint(100, (64,), device="cuda"), torch.randn_like(clean)
        share = (level.float() / 100).unsqueeze(1)
        loss = (net((1 - share) * clean + share * noise, level) - noise).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(net)
        if step % 4 == 3:
            ring.put(average.module.state_dict())
            ring.spread()
    print(f"{ring.count} copies, {sum(slot is not None for slot in ring.slots)} there")


if __name__ == "__main__":
    main()
