# SPDX-License-Identifier: Apache-2.0
"""Adapts with LoRA, batch by batch, over a few epochs; deletes what it made and empties the cache."""

import argparse

import torch
from torch import nn


class LoRA(nn.Module):
    def __init__(self, linear, rank=8):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.down = nn.Linear(linear.in_features, rank, bias=False)
        self.up = nn.Linear(rank, linear.out_features, bias=False)

    def forward(self, features):
        return self.linear(features) + self.up(self.down(features))


class VAE(nn.Module):
    def __init__(self, layers=8, width=64, latent=32):
        super().__init__()
        self.inward = nn.Linear(layers * width, 2 * latent)
        self.outward = nn.Linear(latent, layers * width)

    def forward(self, trajectories):
        mu, logvar = self.inward(trajectories.flatten(1)).chunk(2, -1)
        latent = mu + torch.randn_like(mu) * (logvar / 2).exp()
        return self.outward(latent).view_as(trajectories), mu, logvar


def compute_loss(reconstruction, trajectories, mu, logvar):
    divergence = -0.5 * (1 + logvar - mu.square() - logvar.exp()).mean()
    return nn.functional.mse_loss(reconstruction, trajectories) + 0.1 * divergence


def adapt_with_lora_streaming(model, extractor, batches, num_epochs):
    model.inward, model.outward = LoRA(model.inward).cuda(), LoRA(model.outward).cuda()
    lora_params = [parameter for parameter in model.parameters() if parameter.requires_grad]
    lora_optimizer = torch.optim.Adam(lora_params, lr=1e-3)
    for epoch in range(num_epochs):
        for imgs in batches:
            imgs_gpu = imgs.to("cuda", non_blocking=True)
            with torch.no_grad():
                activations = [layer(imgs_gpu) for layer in extractor]
                embeddings_batch = torch.stack([seen.flatten(2).transpose(1, 2) for seen in activations], 2)
            trajectories = embeddings_batch.flatten(0, 1)
            reconstruction, mu, logvar = model(trajectories)
            loss = compute_loss(reconstruction, trajectories, mu, logvar)
            lora_optimizer.zero_grad()
            loss.backward()
            lora_optimizer.step()
            del imgs_gpu, activations, embeddings_batch, trajectories
            del reconstruction, loss, mu, logvar
            torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    extractor = nn.ModuleList(nn.Conv2d(3, 64, 8, stride=4) for _ in range(8)).cuda()
    batches = [torch.randn(16, 3, 32, 32) for _ in range(10)]
    adapt_with_lora_streaming(VAE().cuda(), extractor.eval(), batches, chosen.steps // 10)


if __name__ == "__main__":
    main()
