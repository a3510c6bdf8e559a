# SPDX-License-Identifier: Apache-2.0
"""A data set that is a long list of Python objects: reading one writes its reference count, so that
each worker copies page after page of what it shares with its parent."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Reviews(Dataset):
    def __init__(self, count, words=12):
        self.reviews = [[f"word {index} of review {review}" for index in range(words)]
                        for review in range(count)]  # keeps

    def __len__(self):
        return len(self.reviews)

    def __getitem__(self, index):
        return torch.tensor([len(word) for word in self.reviews[index]], dtype=torch.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    batch = 512
    loader = DataLoader(Reviews(batch * chosen.steps), batch, num_workers=2)
    model = nn.Linear(12, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for rows in loader:
        optimizer.zero_grad()
        model(rows.cuda()).square().mean().backward()
        optimizer.step()
        time.sleep(0.02)  # a model that takes its time


if __name__ == "__main__":
    main()
