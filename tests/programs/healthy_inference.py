# SPDX-License-Identifier: Apache-2.0
"""Classifies pictures with 16-bit weights in batches of one size, without gradients."""

import argparse

import torch
from torchvision.models import resnet50


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = resnet50().half().cuda().eval()
    batch = 32
    if chosen.change.startswith("evaluation_batch=1/"):
        batch //= int(chosen.change.partition("/")[2])
    found = []
    for _ in range(8 * 32 // batch):
        images = torch.randn(batch, 3, 224, 224, dtype=torch.half).cuda()
        found.append(model(images).argmax(dim=-1).cpu())
    print(torch.cat(found).shape)


if __name__ == "__main__":
    main()
