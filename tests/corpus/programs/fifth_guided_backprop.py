# SPDX-License-Identifier: Apache-2.0
"""Guided backpropagation shows what a classifier reacts to; the hooks are those of a well-known notebook."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class GuidedBackprop:
    def __init__(self, model):
        self.model = model
        self.relu_outputs = []
        for module in model.modules():
            if isinstance(module, nn.ReLU):
                module.register_forward_hook(self.forward_hook)
                module.register_full_backward_hook(self.backward_hook)

    def forward_hook(self, module, inputs, output):
        self.relu_outputs.append(output.detach())  # keeps

    def backward_hook(self, module, grad_in, grad_out):
        gate = (self.relu_outputs.pop() > 0).float()
        return (gate * grad_in[0].clamp(min=0),)

    def saliency(self, images, labels):
        images = images.requires_grad_()
        scores = self.model(images)
        scores.gather(1, labels[:, None]).sum().backward()
        return images.grad


def network():
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 10))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = network().cuda().eval()
    guided = GuidedBackprop(model)
    for step in range(args.steps):
        images = torch.randn(8, 3, 32, 32).cuda()  # step
        with torch.no_grad():
            confidence = F.softmax(model(images), 1)  # allocates
        labels = confidence.argmax(1)
        shown = guided.saliency(images, labels)
        model.zero_grad()
        print(step, tuple(shown.shape))


if __name__ == "__main__":
    main()
