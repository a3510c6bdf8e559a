# SPDX-License-Identifier: Apache-2.0
"""Trains a segmentation network, and from a certain epoch on fits a Gaussian over its weights."""

import argparse
import copy

import torch
from torch import nn


class WeightGaussian:
    """Running mean and square of the weights, and deviations of the snapshots from the mean."""

    def __init__(self, base_model, max_num_models=20):
        self.base_model, self.max_num_models = base_model, max_num_models
        self.n_models = 0
        self.mean = self.flatten(base_model)
        self.sq_mean = self.mean ** 2
        self.cov_mat_sqrt = []

    @staticmethod
    def flatten(model):
        return torch.cat([value.flatten() for value in model.state_dict().values()])

    def collect_model(self, model):
        weights = self.flatten(model)
        self.mean = (self.mean * self.n_models + weights) / (self.n_models + 1)
        self.sq_mean = (self.sq_mean * self.n_models + weights ** 2) / (self.n_models + 1)
        self.cov_mat_sqrt.append((weights - self.mean).clone())
        if len(self.cov_mat_sqrt) > self.max_num_models:
            self.cov_mat_sqrt.pop(0)
        self.n_models += 1

    def sample(self, scale=0.5):
        variance = (self.sq_mean - self.mean ** 2).clamp(1e-30, 100.0)
        weights = self.mean + scale * variance.sqrt() * torch.randn_like(self.mean)
        deviations = torch.stack(self.cov_mat_sqrt)
        draw = torch.randn(len(deviations), device="cuda")
        weights = weights + scale * (deviations.T @ draw) / (2 * max(1, len(deviations) - 1)) ** 0.5
        sampled, start, state = copy.deepcopy(self.base_model), 0, {}
        for key, value in self.base_model.state_dict().items():
            state[key] = weights[start:start + value.numel()].view(value.shape)
            start += value.numel()
        sampled.load_state_dict(state)
        return sampled


def train_epoch(model, optimizer, batches=3):
    for _ in range(batches):
        images = torch.randn(4, 1, 24, 24, device="cuda")
        loss = nn.functional.binary_cross_entropy_with_logits(model(images), (images > 0).float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def uncertainty(gaussian, samples=6):
    images = torch.randn(2, 1, 24, 24, device="cuda")
    return torch.stack([torch.sigmoid(gaussian.sample()(images)) for _ in range(samples)]).std(0).mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=33)
    parser.add_argument("--collect-start-epoch", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = nn.Sequential(nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(),
                          nn.Conv2d(24, 1, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    gaussian = WeightGaussian(copy.deepcopy(model))
    for epoch in range(chosen.steps):
        loss = train_epoch(model, optimizer)  # step
        if epoch >= chosen.collect_start_epoch:
            gaussian.collect_model(model)
    print(f"{gaussian.n_models} snapshots, loss {loss:.4f}")
    if gaussian.n_models:
        print(f"uncertainty {uncertainty(gaussian):.4f}")


if __name__ == "__main__":
    main()
