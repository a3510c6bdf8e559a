# SPDX-License-Identifier: Apache-2.0
"""What a frozen ResNet-50 sees in images, block by block: 16 layers × 49 places × 128 channels."""

import torch
import torchvision
from torch import nn


class Extractor(nn.Module):
    def __init__(self, width=128, resolution=7):
        super().__init__()
        self.backbone = torchvision.models.resnet50(weights=None)
        self.pool = nn.AdaptiveAvgPool2d(resolution)
        self.width = width
        self.activations = []
        for stage in (self.backbone.layer1, self.backbone.layer2, self.backbone.layer3,
                      self.backbone.layer4):
            for block in stage:
                block.register_forward_hook(self.remember)

    def remember(self, block, inputs, output):
        self.activations.append(self.pool(output[:, : self.width]))

    def forward(self, images):
        self.activations = []
        self.backbone(images)
        seen, self.activations = self.activations, []
        return seen


def stack_trajectory(activations):
    """Layers of B × D × 7 × 7 to B × 49 × layers × D."""
    places = [one.flatten(2).transpose(1, 2) for one in activations]
    return torch.stack(places, 2)  # allocates
