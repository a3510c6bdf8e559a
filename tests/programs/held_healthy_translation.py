# SPDX-License-Identifier: Apache-2.0
"""Trains a small translator with mixed precision, accumulation and batches of one length."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    parser.parse_args()
    torch.manual_seed(0)

    embed = nn.Embedding(8000, 256).cuda()
    model = nn.Transformer(256, 4, 2, 2, 1024, batch_first=True).cuda()
    head = nn.Linear(256, 8000).cuda()
    parameters = [*embed.parameters(), *model.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    for step in range(16):
        source, target = (torch.randint(8000, (1, 128)).cuda() for _ in range(2))
        with torch.autocast("cuda", torch.bfloat16):
            logits = head(model(embed(source), embed(target)))
            loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
        del logits
        (loss / 4).backward()
        if step % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
