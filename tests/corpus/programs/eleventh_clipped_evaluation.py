# SPDX-License-Identifier: Apache-2.0
"""Trains with differential privacy, from gradients of each sample that hooks work out, and evaluates in between."""

import argparse

import torch
from torch import nn


class GradSampleHooks:
    """Saves what goes into each linear layer, and makes each sample's gradient of it on the way back."""

    def __init__(self, model):
        self.layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
        for layer in self.layers:
            layer.register_forward_hook(self.capture_activations)
            layer.register_full_backward_hook(self.capture_backprops)

    def capture_activations(self, layer, inputs, output):
        if not layer.training:
            return
        if not hasattr(layer, "activations"):
            layer.activations = []
        layer.activations.append(inputs[0].detach())  # keeps

    def capture_backprops(self, layer, grad_input, grad_output):
        activations = layer.activations.pop()
        backprops = grad_output[0] * len(activations)
        layer.weight.grad_sample = torch.einsum("no,ni->noi", backprops, activations)
        layer.bias.grad_sample = backprops


def private_step(model, optimizer, clip=1.0, noise=0.8):
    parameters = list(model.parameters())
    norms = torch.stack([p.grad_sample.flatten(1).norm(dim=1) for p in parameters]).norm(dim=0)
    factors = (clip / (norms + 1e-6)).clamp(max=1)
    for p in parameters:
        total = torch.tensordot(factors, p.grad_sample, dims=1)
        p.grad = (total + noise * clip * torch.randn_like(total)) / len(factors)
        del p.grad_sample
    optimizer.step()


def train_batch(model, optimizer):
    rows, labels = torch.randn(64, 32, device="cuda"), torch.randint(4, (64,), device="cuda")
    loss = nn.functional.cross_entropy(model(rows), labels)
    optimizer.zero_grad()
    loss.backward()
    private_step(model, optimizer)
    return loss.item()


def evaluate(model):
    with torch.no_grad():
        rows = torch.randn(64, 32, device="cuda")  # allocates
        scores = model(rows)  # allocates
    return scores.std().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Linear(32, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 4)).cuda()
    hooks = GradSampleHooks(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for batch in range(chosen.steps):
        loss = train_batch(model, optimizer)  # step
        spread = evaluate(model)
    print(f"{len(hooks.layers)} layers, loss {loss:.4f}, spread of the scores {spread:.4f}")


if __name__ == "__main__":
    main()
