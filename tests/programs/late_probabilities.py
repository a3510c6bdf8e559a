# SPDX-License-Identifier: Apache-2.0
"""Scores texts with a language model: each batch's probabilities are still alive, as local variables,
while the next batch is worked on."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

WORDS = 50000


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    embed = nn.Embedding(WORDS, 512).half().cuda()
    body = nn.GRU(512, 512, 2, batch_first=True).half().cuda()
    head = nn.Linear(512, WORDS).half().cuda()
    batch = 32
    if chosen.change.startswith("evaluation_batch=1/"):
        batch //= int(chosen.change.partition("/")[2])
    scores = []
    for _ in range(256 // batch):
        tokens = torch.randint(WORDS, (batch, 128)).cuda()
        logits = head(body(embed(tokens))[0])
        probabilities = F.log_softmax(logits.float(), dim=-1)
        picked = probabilities[:, :-1].gather(-1, tokens[:, 1:, None])
        scores.append(picked.sum(dim=(1, 2)).cpu())
        if chosen.change == "free_earlier":
            del logits, probabilities
    print(torch.cat(scores).shape)


if __name__ == "__main__":
    main()
