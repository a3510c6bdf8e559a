# SPDX-License-Identifier: Apache-2.0
"""A curriculum over sound: clips of a quarter of a second first, longer ones from step to step, up to one second."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Tagger(nn.Module):
    def __init__(self, tags=20):
        super().__init__()
        self.register_buffer("window", torch.hann_window(256))
        self.body = nn.Sequential(nn.Conv1d(129, 96, 3, padding=1), nn.ReLU(),
                                  nn.Conv1d(96, 96, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(96, tags)

    def forward(self, clips):
        frames = clips.unfold(-1, 256, 128) * self.window
        spectrum = torch.cat([frames[..., :128].abs(), frames.mean(-1, keepdim=True)], -1)
        return self.head(self.body(spectrum.transpose(1, 2)).mean(-1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=35)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=int, default=8000)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Tagger().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        length = min(args.rate // 4 + 250 * step, args.rate)
        clips = torch.randn(16, length).cuda()  # step
        loss = F.binary_cross_entropy_with_logits(model(clips), torch.zeros(16, 20, device="cuda"))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    print(f"{length / args.rate:.2f} s")


if __name__ == "__main__":
    main()
