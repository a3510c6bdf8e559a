# SPDX-License-Identifier: Apache-2.0
"""Trains a transformer with AdamW and prints the median time of a step, the first ones left out."""

import json
import statistics
import sys
import time

import torch
from torch import nn

WARM_UP, STEPS = 5, 25
SHAPES = {  # width, layers, tokens a sequence, sequences
    "small": (256, 4, 128, 8), "medium": (1024, 8, 512, 8), "large": (2048, 16, 1024, 8),
}


def main() -> None:
    width, layers, tokens, batch = SHAPES[sys.argv[1]]
    layer = nn.TransformerEncoderLayer(width, width // 64, 4 * width, batch_first=True,
                                       norm_first=True)
    model = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randn(batch, tokens, width, device="cuda")
    seconds = []
    for _ in range(WARM_UP + STEPS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(data).float().square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"median_seconds": statistics.median(seconds[WARM_UP:])}))


main()
