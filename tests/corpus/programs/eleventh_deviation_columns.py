# SPDX-License-Identifier: Apache-2.0
"""A second network whose buffers follow the weights of the one in training: means, squares and deviations."""

import argparse

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(40, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 5))


class Posterior(nn.Module):
    def __init__(self, base, max_num_models):
        super().__init__()
        self.register_buffer("n_models", torch.zeros(1, dtype=torch.long))
        self.max_num_models = max_num_models
        self.base = base()
        self.params = []
        self.base.apply(self.follow)

    def follow(self, module):
        for name in list(module._parameters):
            data = module._parameters.pop(name).data
            module.register_buffer(f"{name}_mean", torch.zeros_like(data))
            module.register_buffer(f"{name}_sq_mean", torch.zeros_like(data))
            module.register_buffer(f"{name}_cov_mat_sqrt", data.new_empty(0, data.numel()))
            self.params.append((module, name))

    def collect_model(self, model):
        n = self.n_models_so_far = getattr(self, "n_models_so_far", 0)
        for (module, name), parameter in zip(self.params, model.parameters()):
            mean = getattr(module, f"{name}_mean") * n / (n + 1) + parameter.data / (n + 1)
            sq_mean = getattr(module, f"{name}_sq_mean") * n / (n + 1) + parameter.data ** 2 / (n + 1)
            deviation = (parameter.data - mean).view(1, -1)
            cov_mat_sqrt = torch.cat((getattr(module, f"{name}_cov_mat_sqrt"), deviation), dim=0)
            if n + 1 > self.max_num_models:
                cov_mat_sqrt = cov_mat_sqrt[1:, :]
            setattr(module, f"{name}_mean", mean)
            setattr(module, f"{name}_sq_mean", sq_mean)
            setattr(module, f"{name}_cov_mat_sqrt", cov_mat_sqrt)
        self.n_models.add_(1)
        self.n_models_so_far += 1

    def sample(self, scale=1.0):
        for module, name in self.params:
            mean, sq_mean = getattr(module, f"{name}_mean"), getattr(module, f"{name}_sq_mean")
            deviations = getattr(module, f"{name}_cov_mat_sqrt")
            spread = scale * (sq_mean - mean ** 2).clamp(min=1e-30).sqrt() * torch.randn_like(mean)
            draw = deviations.t().matmul(torch.randn(len(deviations), 1, device="cuda")).view_as(mean)
            setattr(module, name, mean + spread + scale * draw / (self.max_num_models - 1) ** 0.5)

    def forward(self, rows):
        return self.base(rows)


def train_epoch(model, optimizer, batches=4):
    for _ in range(batches):
        rows, labels = torch.randn(32, 40, device="cuda"), torch.randint(5, (32,), device="cuda")
        loss = nn.functional.cross_entropy(model(rows), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--start", type=int, default=2)
    parser.add_argument("--max-num-models", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = build().cuda()
    posterior = Posterior(build, chosen.max_num_models).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(chosen.steps):
        loss = train_epoch(model, optimizer)  # step
        if epoch >= chosen.start:
            posterior.collect_model(model)
    with torch.no_grad():
        posterior.sample()
        spread = posterior(torch.randn(8, 40, device="cuda")).std().item()
    print(f"loss {loss:.4f}, spread of a sampled network's scores {spread:.4f}")


if __name__ == "__main__":
    main()
