# SPDX-License-Identifier: Apache-2.0
"""Depth from one picture: each eleventh step ends with a validation, which gathers its answers and drops them."""

import argparse

import torch
from torch import nn


def block(inside, outside):
    return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.ELU())


@torch.no_grad()
def validate(net, batches=8):
    net.eval()
    found, wanted = [], []
    for index in range(batches):
        found.append(net(torch.rand(4, 3, 56, 56).cuda()))
        wanted.append(torch.full((4, 1, 56, 56), index / batches, device="cuda"))
    net.train()
    found, wanted = torch.cat(found), torch.cat(wanted)
    return ((found - wanted).abs() / (wanted + 1)).mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=46)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(block(3, 16), block(16, 16), nn.Conv2d(16, 1, 3, padding=1)).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    waiting, errors = [], []
    for step in range(args.steps):
        pictures = torch.rand(4, 3, 56, 56).cuda()  # step
        depth = net(pictures)  # fills
        loss = depth.diff(dim=3).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        waiting.append(depth.detach())
        if len(waiting) == 11:
            print(f"spread {torch.cat(waiting).std().item():.4f}")
            waiting = []
            errors.append(validate(net))
    print(f"errors {errors}, loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
