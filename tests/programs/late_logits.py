# SPDX-License-Identifier: Apache-2.0
"""A language model with a large vocabulary under autocast: its 16-bit logits stay alive through the loss
and the backward pass, which need only their 32-bit copy."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

WORDS = 64000


class Language(nn.Module):
    def __init__(self, width=256, layers=2):
        super().__init__()
        self.embed = nn.Embedding(WORDS, width)
        self.body = nn.LSTM(width, width, layers, batch_first=True)
        self.head = nn.Linear(width, WORDS, bias=False)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens))[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = Language().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch, parts = 16, {"train_batch_half": 2, "train_batch_quarter": 4}.get(chosen.change, 1)
    for _ in range(8):
        optimizer.zero_grad()
        for tokens in torch.randint(WORDS, (batch, 257)).chunk(parts):
            tokens = tokens.cuda()
            with torch.autocast("cuda", torch.bfloat16):
                logits = model(tokens[:, :-1])
                wide = logits.float()
                loss = F.cross_entropy(wide.flatten(0, 1), tokens[:, 1:].flatten())
                if chosen.change == "free_earlier":
                    del logits, wide
            (loss / parts).backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
