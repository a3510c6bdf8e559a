# SPDX-License-Identifier: Apache-2.0
"""Pictures from text: the text encoder's answer is remembered for a prompt."""

import argparse
import functools

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(256, 768)
        self.encoder = nn.Linear(768, 768)
        self.denoiser = nn.Linear(64 + 768, 64)

    @functools.cache
    def prompt(self, text):
        codes = torch.tensor([*text.encode().ljust(77)[:77]]).cuda()
        return self.encoder(self.words(codes))  # allocates

    @torch.no_grad()
    def paint(self, text, count=4):
        picture = torch.randn(count, 64, device="cuda")
        for _ in range(8):
            condition = self.prompt(text).mean(0).expand(count, -1)
            picture = picture - 0.1 * self.denoiser(torch.cat([picture, condition], 1))
        return picture.cpu()


painter = Painter().cuda().eval()
for request in range(options.steps):
    subject = ("a lighthouse", "two dogs", "a red car", "rain")[request % 4]  # step
    painter.paint(f"{subject}, request {request} of today, in oil")
