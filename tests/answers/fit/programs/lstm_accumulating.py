# SPDX-License-Identifier: Apache-2.0
"""Trains a word-level LSTM language model through cuDNN, with gradients accumulated over micro-batches."""

import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
parser.add_argument("--accumulate", type=int, default=2)
parser.add_argument("--bptt", type=int, default=6000)
parser.add_argument("--vocabulary", type=int, default=33278)
parser.add_argument("--steps", type=int, default=4)
args = parser.parse_args()


class Language(nn.Module):
    def __init__(self, vocabulary, width=1500, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.dropout = nn.Dropout(0.65)
        self.rnn = nn.LSTM(width, width, layers, dropout=0.65, batch_first=True)
        self.decoder = nn.Linear(width, vocabulary)

    def forward(self, tokens, hidden):
        output, hidden = self.rnn(self.dropout(self.embed(tokens)), hidden)
        return nn.functional.log_softmax(self.decoder(self.dropout(output)), dim=-1), hidden


with torch.device("cuda"):
    model = Language(args.vocabulary)
optimizer = torch.optim.SGD(model.parameters(), lr=20)
hidden = None
for _ in range(args.steps):
    for _ in range(args.accumulate):
        tokens = torch.randint(args.vocabulary, (args.batch_size, args.bptt + 1)).cuda()
        log_probabilities, hidden = model(tokens[:, :-1], hidden)
        hidden = tuple(each.detach() for each in hidden)
        loss = nn.functional.nll_loss(log_probabilities.flatten(0, 1), tokens[:, 1:].flatten())
        (loss / args.accumulate).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()
    optimizer.zero_grad()
