# SPDX-License-Identifier: Apache-2.0
"""Trains a sparse autoencoder on activations, with logs of its codes, its dictionary and its gradients."""

import argparse
from collections import defaultdict

import torch
from torch import nn
from torch.nn import functional

BATCH, WIDTH, CONCEPTS = 128, 64, 256


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(WIDTH, CONCEPTS)
        self.dictionary = nn.Parameter(torch.randn(CONCEPTS, WIDTH) / WIDTH ** 0.5)

    def forward(self, x):
        codes = functional.relu(self.encoder(x))  # allocates
        return codes, codes @ self.dictionary


def log_metrics(monitoring, logs, model, codes, loss):
    if monitoring == 0:
        return
    logs["loss"].append(loss.item())
    logs["sparsity"].append((codes == 0).float().mean().item())
    if monitoring > 1:
        logs["z"].append(codes.detach()[::10])  # keeps
        logs["z_l2"].append(codes.square().sum().sqrt().item())
        logs["dictionary_norms"].append(model.dictionary.norm(dim=-1).mean().item())
        for name, parameter in model.named_parameters():
            if parameter.grad is not None:
                logs[f"params_norm_{name}"].append(parameter.norm().item())
                logs[f"params_grad_norm_{name}"].append(parameter.grad.norm().item())


def train(model, batches, optimizer, monitoring=2):
    logs = defaultdict(list)
    for _ in range(batches):
        optimizer.zero_grad()  # step
        x = torch.randn(BATCH, WIDTH, device="cuda")
        codes, reconstruction = model(x)
        loss = functional.mse_loss(reconstruction, x) + 1e-3 * codes.abs().mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        log_metrics(monitoring, logs, model, codes, loss)
    return logs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Autoencoder().cuda()
    logs = train(model, chosen.steps, torch.optim.Adam(model.parameters(), lr=1e-3))
    print(f"last loss {logs['loss'][-1]:.4f}, sparsity {logs['sparsity'][-1]:.3f}, {len(logs)} series")


if __name__ == "__main__":
    main()
