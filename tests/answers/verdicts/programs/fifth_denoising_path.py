# SPDX-License-Identifier: Apache-2.0
"""A service that makes pictures by diffusion, one denoising step at a time; the path is sent with the picture."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.into, self.out = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, level):
        return self.out(F.silu(self.into(x) * level))


class Job:
    def __init__(self, number, steps, size=32):
        self.number = number
        self.levels = torch.linspace(1, 0, steps).tolist()
        self.at = 0
        self.path = [torch.randn(4, 3, size, size).cuda()]

    def advance(self, model):
        level = self.levels[self.at]
        x = self.path[-1]
        x = x - 0.1 * level * model(x, level)  # fills
        self.path.append(x)
        self.at += 1

    @property
    def done(self):
        return self.at == len(self.levels)

    def film(self):
        return torch.stack([(x[0] + 1) / 2 for x in self.path]).mul(255).byte().cpu()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=27)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--denoising-steps", type=int, default=12)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Denoiser().cuda().eval()
    job = Job(0, args.denoising_steps)
    with torch.inference_mode():
        for _ in range(args.steps):
            job.advance(model)  # step
            if job.done:
                print(job.number, tuple(job.film().shape))
                job = Job(job.number + 1, args.denoising_steps)


if __name__ == "__main__":
    main()
