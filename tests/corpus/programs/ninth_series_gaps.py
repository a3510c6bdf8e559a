# SPDX-License-Identifier: Apache-2.0
"""Trains a recurrent network to fill the gaps of irregular series; beside the loss on what was observed it reports
how well the missing points are filled."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Filler(nn.Module):
    def __init__(self, features=8, hidden=32):
        super().__init__()
        self.encoder = nn.Linear(2 * features, hidden)
        self.cell = nn.GRUCell(hidden, hidden)
        self.mean, self.variance = nn.Linear(hidden, features), nn.Linear(hidden, features)

    def forward(self, observed, valid):
        inputs = F.relu(self.encoder(torch.cat([observed * valid, valid], -1)))
        state, states = torch.zeros(len(observed), self.cell.hidden_size, device="cuda"), []
        for at in range(inputs.shape[1]):
            state = self.cell(inputs[:, at], state)
            states.append(state)
        states = torch.stack(states, 1)
        return self.mean(states), F.softplus(self.variance(states)) + 1e-4  # allocates


def negative_log_likelihood(mean, truth, variance, mask):
    error = (truth - mean) ** 2  # allocates
    terms = 0.5 * (torch.log(variance) + error / variance)
    return (terms * mask).sum() / mask.sum()  # allocates


def mse(truth, mean, mask):
    return ((truth - mean) ** 2 * mask).sum() / mask.sum()  # allocates


def train_epoch(model, optimizer, batches):
    epoch_ll = epoch_imput_ll = epoch_imput_mse = 0
    for i in range(batches):
        truth = torch.randn(32, 50, 8, device="cuda")  # step
        valid = (torch.rand(32, 50, 8, device="cuda") > 0.3).float()
        missing = 1 - valid  # allocates

        mean, variance = model(truth, valid)
        loss = negative_log_likelihood(mean, truth, variance, valid)
        imput_loss = negative_log_likelihood(mean, truth, variance, missing)
        imput_mse = mse(truth, mean, missing)

        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()

        epoch_ll += loss.item()
        epoch_imput_ll += imput_loss  # keeps
        epoch_imput_mse += imput_mse  # keeps
    return epoch_ll / (i + 1), epoch_imput_ll / (i + 1), epoch_imput_mse / (i + 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = Filler().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    likelihood, imput_ll, imput_mse = train_epoch(model, optimizer, chosen.steps)
    print(f"loss {likelihood:.3f}, of missing points {imput_ll.item():.3f}, error {imput_mse.item():.3f}")


if __name__ == "__main__":
    main()
