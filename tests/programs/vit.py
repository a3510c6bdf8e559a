# SPDX-License-Identifier: Apache-2.0
"""torchvision's vision transformer, small, with AdamW in bfloat16 autocast."""

import torch
import torchvision
from torch import nn

from batches import DEVICE, on_device, options, peak


def main():
    chosen = options(steps=3)
    model = torchvision.models.VisionTransformer(
        image_size=128, patch_size=16, num_layers=6, num_heads=6, hidden_dim=384, mlp_dim=1536,
        num_classes=100,
    ).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    pictures = (
        (torch.zeros(64, 3, 128, 128), torch.zeros(64, dtype=torch.long)) for _ in range(chosen.steps)
    )
    for image, label in on_device(pictures, chosen.streams):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(image), label)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    print(f"vit: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
