# SPDX-License-Identifier: Apache-2.0
"""Trains on batches that DataLoader workers tokenise: what one worker costs the host.

python workers.py WORKERS     prints RESULT and the number of batches
"""

import sys

import torch
from torch.utils.data import DataLoader, Dataset

SOURCE, TARGET = 512, 128


class Articles(Dataset):
    """A corpus held as Python lists, as datasets of summaries often are: 20,000 texts of 3,000 letters."""

    def __init__(self):
        self.texts = ["word " * 600 + str(number) for number in range(20_000)]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, number):
        words = self.texts[number].split()
        ids = [hash(word) % 32_000 for word in words[:SOURCE]]
        return torch.tensor(ids + [0] * (SOURCE - len(ids))), torch.zeros(TARGET, dtype=torch.long)


def main(workers):
    loader = DataLoader(Articles(), batch_size=12, num_workers=workers, persistent_workers=workers > 0)
    model = torch.nn.Embedding(32_000, 64).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for number, (source, _) in enumerate(loader):
        model(source.cuda(non_blocking=True)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if number == 150:
            break
    print("RESULT {\"batches\": %d}" % (number + 1))


if __name__ == "__main__":
    main(int(sys.argv[1]))
