# SPDX-License-Identifier: Apache-2.0
"""Trains a list of models one after the other, each with its own learning rates, and says how each went."""

import argparse

import torch
from torch import nn

BATCHES = 2


def network():
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


def prepare(number):
    """What is to be trained, by name."""
    all_models = {}
    for index in range(number):
        model = network()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        all_models[f"run_{index}"] = {  # keeps
            "model": model, "optimizer": optimizer, "criterion": nn.CrossEntropyLoss(),
            "lr_array": [1e-3 / (1 + index), 1e-4 / (1 + index)]}
    return all_models


def train(training_obj):
    model, optimizer = training_obj["model"], training_obj["optimizer"]
    model.to("cuda")  # allocates
    model.train()
    for learning_rate in training_obj["lr_array"]:
        torch.cuda.empty_cache()
        for group in optimizer.param_groups:
            group["lr"] = learning_rate
        for _ in range(BATCHES):
            images = torch.randn(32, 64).to("cuda")
            labels = torch.randint(10, (32,)).to("cuda")
            outputs = model(images).squeeze()
            optimizer.zero_grad()
            loss = training_obj["criterion"](outputs, labels)
            loss.backward()  # allocates
            optimizer.step()  # allocates
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    all_models = prepare(chosen.steps)
    for model_name, training_obj in all_models.items():
        print("training", model_name)  # step
        print(f"  last loss {train(training_obj):.4f}")


if __name__ == "__main__":
    main()
