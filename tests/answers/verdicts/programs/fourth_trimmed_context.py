# SPDX-License-Identifier: Apache-2.0
"""Live speech: what was heard is kept for ten seconds."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=18)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Listener(nn.Module):
    def __init__(self, frames):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv1d(80, 256, 3, stride=2, padding=1), nn.GELU())
        self.attention = nn.MultiheadAttention(256, 4, batch_first=True)
        self.frames, self.heard = frames, torch.zeros(16, 0, 256, device="cuda")

    @torch.no_grad()
    def listen(self, sound):
        fresh = self.encoder(sound).transpose(1, 2)
        self.heard = torch.cat([self.heard, fresh], 1)[:, -self.frames:]
        return self.attention(fresh, self.heard, self.heard, need_weights=False)[0].mean(1)


listener = Listener(frames=500).cuda().eval()
for second in range(options.steps):
    sound = torch.randn(16, 80, 100, device="cuda")  # step
    listener.listen(sound)
