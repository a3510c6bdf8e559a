# SPDX-License-Identifier: Apache-2.0
"""Watches gradients as they flow back through a deep classifier, to see where they vanish."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class GradientWatch:
    """The gradient of each encoder layer's output, by the layer's name and the step."""

    def __init__(self, model):
        self.step = 0
        self.seen = {}
        self.names = []
        for name, module in model.named_modules():
            if name.startswith("encoder") and isinstance(module, nn.Linear):
                self.names.append(name)
                module.register_full_backward_hook(self.hook_for(name))

    def hook_for(self, name):
        def hook(module, grad_input, grad_output):
            self.seen[name, self.step] = grad_output[0]  # keeps
        return hook

    def ratios(self):
        norms = [self.seen[name, self.step].norm() for name in self.names]
        return [float(first / last) for first, last in zip(norms, norms[1:])]


class Classifier(nn.Module):
    def __init__(self, width=256, depth=3):
        super().__init__()
        layers = []
        for _ in range(depth):
            layers += [nn.Linear(width, width), nn.ReLU()]
        self.encoder = nn.Sequential(*layers)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.encoder(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=38)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Classifier().cuda()
    watch = GradientWatch(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(args.steps):
        x, y = torch.randn(64, 256).cuda(), torch.randint(10, (64,)).cuda()  # step
        watch.step = step
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()  # allocates
        optimizer.step()
        print(step, watch.ratios())


if __name__ == "__main__":
    main()
