# SPDX-License-Identifier: Apache-2.0
"""Every twelve steps, hooks note the activations of seven steps, then a summary is printed, and hooks and notes go."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Watch:
    def __init__(self, model):
        self.notes = {name: [] for name, layer in model.named_modules() if isinstance(layer, nn.ReLU)}
        self.handles = [model.get_submodule(name).register_forward_hook(self.hook(name)) for name in self.notes]

    def hook(self, name):
        return lambda layer, inputs, output: self.notes[name].append(output.detach().clone())  # fills

    def close(self):
        for handle in self.handles:
            handle.remove()
        return {name: (torch.cat(outputs) > 0).float().mean().item() for name, outputs in self.notes.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(80, 256), nn.ReLU(), nn.Linear(256, 192), nn.ReLU(), nn.Linear(192, 9)).cuda()
    optimizer, watch = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), None
    for step in range(args.steps):
        rows = torch.randn(200, 80).cuda()  # step
        if step % 12 == 0:
            watch = Watch(model)
        loss = F.cross_entropy(model(rows), torch.randint(9, (200,), device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 12 == 6:
            print(step, watch.close())
            watch = None


if __name__ == "__main__":
    main()
