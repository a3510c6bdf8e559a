# SPDX-License-Identifier: Apache-2.0
"""Runs a hybrid speech recognizer's network over its development set, for the loss and the frame errors."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

WINDOW, STATES, FRAMES = 11 * 20, 48, 128


class Network(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WINDOW, width), nn.Linear(width, width)])
        self.states = nn.Linear(width, STATES)

    def forward(self, features):
        for layer in self.layers:
            features = torch.relu(layer(features))  # allocates
        return F.log_softmax(self.states(features), 1)  # allocates


def forward_model(network, rows):
    labels = rows[:, WINDOW].long()  # allocates
    log_probs = network(rows[:, :WINDOW])
    loss = F.nll_loss(log_probs, labels)  # allocates
    errors = (log_probs.argmax(1) != labels).float().mean()
    return {"loss_final": loss, "err_final": errors}


def run_chunk(network, chunk, batches):
    """A chunk has its features and, in its last column, the labels; it is gone through as often as need be."""
    loss_sum, err_sum = 0, 0
    for number in range(batches):
        begin = (number * FRAMES) % chunk.shape[0]  # step
        outs_dict = forward_model(network, chunk[begin:begin + FRAMES])
        loss_sum = loss_sum + outs_dict["loss_final"]  # keeps
        err_sum = err_sum + outs_dict["err_final"].detach()
    return loss_sum / batches, err_sum / batches


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    network = Network().cuda().eval()
    chunk = torch.rand(8 * FRAMES, WINDOW + 1, device="cuda")
    loss, errors = run_chunk(network, chunk, chosen.steps)
    print(f"dev loss {loss.item():.4f}, errors {errors.item():.3f}")


if __name__ == "__main__":
    main()
