# SPDX-License-Identifier: Apache-2.0
"""A diffusion model is trained, and every fifth step draws four pictures to show how far it is."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=56)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Diffusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.SiLU(), nn.Conv2d(16, 3, 3, padding=1))

    def loss(self, clean):
        noise = torch.randn_like(clean)
        return (self.net(0.7 * clean + 0.7 * noise) - noise).square().mean()

    @torch.no_grad()
    def sample(self, count, steps=6):
        x = torch.randn(count, 3, 48, 48, device="cuda")  # allocates
        path = [x]
        for _ in range(steps):
            x = x - 0.1 * self.net(x)  # allocates
            path.append(x)
        return path


class Trainer:
    def __init__(self):
        self.model = Diffusion().cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.log = {"loss": [], "sheets": []}

    def run(self, steps):
        for step in range(steps):
            clean = torch.randn(8, 3, 48, 48, device="cuda")  # step
            loss = self.model.loss(clean)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.log["loss"].append(loss.item())
            if step % 5 == 4:
                self.log["sheets"].append(self.model.sample(4))  # keeps
                print(step, self.log["sheets"][-1][-1].abs().mean().item())


Trainer().run(options.steps)
