# SPDX-License-Identifier: Apache-2.0
"""A variational autoencoder of trajectories (layers × channels at one place), and LoRA for it."""

import torch
from torch import nn


class TrajectoryVAE(nn.Module):
    def __init__(self, layers=16, width=128, hidden=256, latent=64):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(layers * width, hidden), nn.ReLU())
        self.to_mu = nn.Linear(hidden, latent)
        self.to_logvar = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(),
                                     nn.Linear(hidden, layers * width))

    def forward(self, trajectories):
        hidden = self.encoder(trajectories.flatten(1))
        mu, logvar = self.to_mu(hidden), self.to_logvar(hidden)
        latent = mu + torch.randn_like(mu) * (logvar / 2).exp()
        return self.decoder(latent).view_as(trajectories), mu, logvar


def compute_loss(reconstruction, trajectories, mu, logvar):
    divergence = -0.5 * (1 + logvar - mu.square() - logvar.exp()).mean()
    return nn.functional.mse_loss(reconstruction, trajectories) + 0.01 * divergence


class LoRALinear(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, features):
        return self.base(features) + self.up(self.down(features))


def apply_lora_to_model(model, rank=8):
    """Returns the model and the parameters that are left to train."""
    device = next(model.parameters()).device
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear) and not isinstance(module, LoRALinear):
                setattr(module, name, LoRALinear(child, rank).to(device))
    return model, [one for one in model.parameters() if one.requires_grad]
