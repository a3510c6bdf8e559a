# SPDX-License-Identifier: Apache-2.0
"""Two losses, the first backward call keeps the graph for the second; what is noted are numbers."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Segmenter(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1), nn.ReLU())
        self.mask = nn.Sequential(nn.Upsample(scale_factor=4), nn.Conv2d(width, 2, 1))
        self.edge = nn.Sequential(nn.Upsample(scale_factor=4), nn.Conv2d(width, 1, 1))

    def forward(self, pictures):
        code = self.down(pictures)
        return self.mask(code), self.edge(code)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=17)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net, history = Segmenter().cuda(), {"mask": [], "edge": []}
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(args.steps):
        pictures, labels = torch.rand(12, 3, 40, 40).cuda(), torch.randint(2, (12, 40, 40)).cuda()  # step
        mask, edge = net(pictures)
        losses = {"mask": F.cross_entropy(mask, labels),
                  "edge": F.binary_cross_entropy_with_logits(edge[:, 0], labels.float())}
        optimizer.zero_grad()
        losses["mask"].backward(retain_graph=True)
        losses["edge"].backward()
        optimizer.step()
        for name, loss in losses.items():
            history[name].append(loss.detach().cpu())
    print({name: f"{torch.stack(values).mean().item():.3f}" for name, values in history.items()})


if __name__ == "__main__":
    main()
