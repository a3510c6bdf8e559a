# SPDX-License-Identifier: Apache-2.0
"""Anomaly detection by a memory bank: keeps patch embeddings of all training images on the GPU and
stacks them in the end."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models import resnet18


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        net = resnet18()
        self.stem = nn.Sequential(net.conv1, net.bn1, net.relu, net.maxpool, net.layer1)
        self.second, self.third = net.layer2, net.layer3

    def forward(self, images):
        second = self.second(self.stem(images))
        third = F.interpolate(self.third(second), size=second.shape[-2:], mode="bilinear")
        return torch.cat([second, third], dim=1)


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)
    draw = random.Random(9)

    model = Patches().cuda().eval()
    bank = []
    for _ in range(40):
        images = torch.randn(draw.randrange(8, 33), 3, 256, 256).cuda()
        features = model(images)
        patches = features.permute(0, 2, 3, 1).reshape(-1, features.shape[1])
        chosen_patches = patches[:: 2].contiguous()
        bank.append(chosen_patches.cpu() if chosen.change == "free_earlier" else chosen_patches)
    bank = torch.cat(bank)
    print(tuple(bank.shape))
    keep = torch.randperm(len(bank))[: len(bank) // 10].to(bank.device)
    print(tuple(bank[keep].shape))


if __name__ == "__main__":
    main()
