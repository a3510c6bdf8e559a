# SPDX-License-Identifier: Apache-2.0
"""Perplexity of a causal language model of fixed length on long documents, by a window that moves with a stride."""

import argparse

import torch
from torch import nn
from torch.nn import functional

WORDS, MAX_LENGTH, STRIDE, DOCUMENT = 600, 32, 16, 336


class CausalModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, width), nn.Embedding(MAX_LENGTH, width)
        self.block = nn.TransformerEncoderLayer(width, 4, 128, batch_first=True, dropout=0.0)
        self.head = nn.Linear(width, WORDS)

    def forward(self, ids, labels):
        length = ids.shape[1]
        mask = torch.full((length, length), float("-inf"), device=ids.device).triu(1)
        hidden = self.words(ids) + self.places.weight[:length]
        logits = self.head(self.block(hidden, src_mask=mask))
        return functional.cross_entropy(logits[0, :-1], labels[0, 1:], ignore_index=-100)  # fills


def windows(seq_len):
    """Where each begins and ends, and how many of its tokens count."""
    prev_end = 0
    for begin in range(0, seq_len, STRIDE):
        end = min(begin + MAX_LENGTH, seq_len)
        yield begin, end, end - prev_end
        prev_end = end
        if end == seq_len:
            break


def documents():
    while True:
        yield torch.randint(WORDS, (1, DOCUMENT))


def all_windows():
    for encodings in documents():
        for begin, end, target_length in windows(DOCUMENT):
            yield encodings[:, begin:end], target_length, end == DOCUMENT


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60, help="windows")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    model = CausalModel().cuda().eval()
    nlls = []
    for _, (ids, target_length, last) in zip(range(chosen.steps), all_windows()):
        input_ids = ids.cuda()  # step
        target_ids = input_ids.clone()
        target_ids[:, :-target_length] = -100
        with torch.no_grad():
            neg_log_likelihood = model(input_ids, target_ids)
        nlls.append(neg_log_likelihood)
        if last:
            print(f"perplexity {torch.exp(torch.stack(nlls).mean()).item():.2f}")
            nlls = []


if __name__ == "__main__":
    main()
