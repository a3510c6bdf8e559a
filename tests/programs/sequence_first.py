# SPDX-License-Identifier: Apache-2.0
"""A language model on (length, batch) tokens, as PyTorch's sequence modules take them without batch_first."""
import argparse

import torch
from torch import nn

options = argparse.ArgumentParser()
options.add_argument("--kind", choices=("lstm", "transformer"), default="lstm")
options.add_argument("--bptt", type=int, default=70)
options.add_argument("--batch", type=int, default=128)
options = options.parse_args()

embed = nn.Embedding(4096, 512).cuda()
body = nn.LSTM(512, 512, 2) if options.kind == "lstm" else nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8, 1024), 2)
body = body.cuda()
head = nn.Linear(512, 4096).cuda()
optimizer = torch.optim.SGD([*embed.parameters(), *body.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    tokens = torch.randint(4096, (options.bptt, options.batch), device="cuda")
    states = body(embed(tokens))
    states = states[0] if options.kind == "lstm" else states
    loss = nn.functional.cross_entropy(head(states).flatten(0, 1), tokens.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
