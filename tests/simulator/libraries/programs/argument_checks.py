# SPDX-License-Identifier: Apache-2.0
"""Policies whose arguments torch.distributions checks, by values that no kernel computes."""
import torch
from torch.distributions import Categorical, Normal

body = torch.nn.Linear(64, 32).cuda()
for rows in (16, 20000):
    seen = body(torch.randn(rows, 64, device="cuda"))
    moves = Normal(seen, seen.exp())
    print("normal", *moves.log_prob(moves.sample()).shape)
    choice = Categorical(probs=seen.softmax(-1))
    print("categorical", *choice.log_prob(choice.sample()).shape)
try:
    Normal(torch.zeros(4, device="cuda"), torch.zeros(4, device="cuda"))
except ValueError:
    print("refused")
