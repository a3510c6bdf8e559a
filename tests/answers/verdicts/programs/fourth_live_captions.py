# SPDX-License-Identifier: Apache-2.0
"""Captions of 32 live streams: each second of sound is encoded, and decoded with what was heard before."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=16)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv1d(80, 256, 3, stride=2, padding=1), nn.GELU())
        self.attention = nn.MultiheadAttention(256, 4, batch_first=True)
        self.words = nn.Linear(256, 1000)
        self.heard = None

    @torch.no_grad()
    def listen(self, sound):
        frames = self.encoder(sound).transpose(1, 2)
        if self.heard is None:
            self.heard = frames
        else:
            self.heard = torch.cat([self.heard, frames], 1)  # allocates
        window = self.heard[:, -200:]
        answer, _ = self.attention(frames, window, window, need_weights=False)
        return self.words(answer).argmax(-1)


captioner = Captioner().cuda().eval()
for second in range(options.steps):
    sound = torch.randn(32, 80, 100, device="cuda")  # step
    words = captioner.listen(sound)
