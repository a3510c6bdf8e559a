# SPDX-License-Identifier: Apache-2.0
"""Gaussian splatting: every fifth step some of the splats are split in two, until step 60."""

import argparse
from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class OptimizationParams:
    densify_from: int = 5
    densify_until: int = 60
    densify_every: int = 5
    share: float = 0.15
    lr: float = 1e-2


class Splats:
    def __init__(self, count, params):
        self.params = params
        self.values = {"place": torch.randn(count, 3), "scale": torch.zeros(count, 3), "turn": torch.randn(count, 4),
                       "color": torch.rand(count, 16), "opacity": torch.zeros(count, 1)}
        self.values = {name: value.cuda().requires_grad_() for name, value in self.values.items()}
        self.reset_optimizer()

    def reset_optimizer(self):
        self.optimizer = torch.optim.Adam(list(self.values.values()), lr=self.params.lr, eps=1e-15)

    def render(self, rays):
        weights = torch.exp(-torch.cdist(rays, self.values["place"]).pow(2)) * self.values["opacity"].sigmoid().T
        mixed = weights @ self.values["color"]
        return mixed[:, :3] + self.values["scale"].mean() + self.values["turn"].mean()

    @torch.no_grad()
    def densify(self):
        count = len(self.values["place"])
        split = self.values["place"].norm(dim=1).topk(int(count * self.params.share)).indices
        self.values = {name: torch.cat([value, value[split]]).requires_grad_() for name, value in self.values.items()}
        self.reset_optimizer()

    def after_step(self, step):
        p = self.params
        if p.densify_from <= step < p.densify_until and step % p.densify_every == 0:
            self.densify()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=55)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    splats = Splats(2000, OptimizationParams())
    for step in range(args.steps):
        rays, colors = torch.randn(16, 3).cuda(), torch.rand(16, 3).cuda()  # step
        loss = F.l1_loss(splats.render(rays), colors)
        splats.optimizer.zero_grad()
        loss.backward()
        splats.optimizer.step()
        splats.after_step(step)


if __name__ == "__main__":
    main()
