# SPDX-License-Identifier: Apache-2.0
"""An evaluation that keeps the logits of all batches, with their graphs."""
import sys

import torch
from torch import nn

CHANGED = "--changed" in sys.argv
model = nn.Sequential(nn.Embedding(32000, 256), nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, batch_first=True), 2),
                      nn.Linear(256, 32000)).cuda()
optimizer = torch.optim.AdamW(model.parameters())


def train(steps):
    model.train()
    for _ in range(steps):
        words = torch.randint(32000, (4, 128), device="cuda")
        loss = nn.functional.cross_entropy(model(words).flatten(0, 1), words.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def evaluate(batches):
    model.eval()
    all_logits, all_words = [], []
    for _ in range(batches):
        words = torch.randint(32000, (4, 128), device="cuda")
        logits = model(words)
        all_logits.append(logits.detach().cpu() if CHANGED else logits)
        all_words.append(words.cpu() if CHANGED else words)
    losses = [nn.functional.cross_entropy(one.flatten(0, 1), words.flatten()) for one, words in zip(all_logits, all_words)]
    return sum(losses) / len(losses)


train(5)
print(evaluate(40).item())
