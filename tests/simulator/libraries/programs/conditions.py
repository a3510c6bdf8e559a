# SPDX-License-Identifier: Apache-2.0
"""Conditions on values that no kernel computes: prints how much each selects."""
import torch

x = torch.randn(1 << 14, 16, device="cuda")
chosen = x.sum(-1) > 0
print("index", len(x[chosen]))
print("select", len(torch.masked_select(x, chosen[:, None])))
print("nonzero", len(chosen.nonzero()))
print("count", int(chosen.sum()))
