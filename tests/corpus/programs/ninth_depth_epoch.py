# SPDX-License-Identifier: Apache-2.0
"""One epoch of self-supervised depth: two networks, a photometric loss and a smoothness, and a summary of the epoch."""

import argparse

import torch
from torch import nn


class DepthNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ELU(), nn.Conv2d(width, 1, 3, padding=1))

    def forward(self, image):
        return torch.sigmoid(self.layers(image))


class PoseNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(6, width, 5, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                    nn.Linear(width, 6))

    def forward(self, image, context):
        return 0.01 * self.layers(torch.cat([image, context], 1))


class SelfSupervised(nn.Module):
    def __init__(self):
        super().__init__()
        self.depth_net, self.pose_net = DepthNet(), PoseNet()

    def training_step(self, batch):
        image, context = batch
        inverse_depth = self.depth_net(image)
        pose = self.pose_net(image, context)
        # The shift by the pose stands for the warp of the context into the image.
        warped = context + pose[:, :3, None, None] * inverse_depth
        photometric = (warped - image).abs().mean()  # allocates
        smoothness = (inverse_depth[..., 1:] - inverse_depth[..., :-1]).abs().mean()  # allocates
        loss = photometric + 0.001 * smoothness  # allocates
        return {"loss": loss, "metrics": {"photometric": photometric.detach(), "smoothness": smoothness.detach()}}

    def training_epoch_end(self, outputs):
        loss = torch.stack([output["loss"] for output in outputs]).mean().item()
        metrics = {name: torch.stack([output["metrics"][name] for output in outputs]).mean().item()
                   for name in outputs[0]["metrics"]}
        return {"loss": loss, **metrics}


class Trainer:
    def __init__(self, batches):
        self.batches = batches

    def fit(self, module):
        optimizer = torch.optim.Adam(module.parameters(), lr=1e-4)
        print(self.train(module, optimizer))

    def train(self, module, optimizer):
        module.train()
        outputs = []
        for number in range(self.batches):
            optimizer.zero_grad()  # step
            batch = [torch.rand(2, 3, 24, 64, device="cuda") for _ in range(2)]
            output = module.training_step(batch)
            output["loss"].backward()
            optimizer.step()
            outputs.append(output)  # keeps
            if number % 20 == 0:
                print(f"batch {number} | loss {output['loss'].item():.4f}")
        return module.training_epoch_end(outputs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    Trainer(chosen.steps).fit(SelfSupervised().cuda())


if __name__ == "__main__":
    main()
