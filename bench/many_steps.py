# SPDX-License-Identifier: Apache-2.0
"""Training steps with fixed or variable lengths: the trace of a long run, for its size."""

import sys

import torch


def main(steps: int, lengths: str) -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(128, 4, 512, batch_first=True, dropout=0.0)
    model = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        length = 128 if lengths == "fixed" else int(torch.randint(16, 129, ()))
        batch = torch.zeros(8, length, 128, device="cuda")
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
