# SPDX-License-Identifier: Apache-2.0
"""DataLoader with two workers, started as the argument says (fork or spawn), pinned memory."""

import sys

import torch
from torch.utils.data import DataLoader, Dataset

from small_training import Training, counters


class Squares(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.full((16,), float(index * index))


def main():
    training = Training()
    training.steps(1)
    loader = DataLoader(Squares(), batch_size=4, num_workers=2, pin_memory=True,
                        multiprocessing_context=sys.argv[1])
    for batch in loader:
        print("batch", batch.sum().item(), batch.is_pinned())
        batch.cuda(non_blocking=True)
        training.steps(1)
    print(counters())


if __name__ == "__main__":
    main()
