# SPDX-License-Identifier: Apache-2.0
"""Embeds texts of any length with expandable segments already on."""

import argparse
import os
import random

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import torch  # noqa: E402
from torch import nn  # noqa: E402


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    parser.parse_args()
    torch.manual_seed(0)
    draw = random.Random(6)

    layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, norm_first=True)
    model = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).half().cuda().eval()
    embed = nn.Embedding(30000, 512).half().cuda()
    for _ in range(60):
        tokens = torch.randint(30000, (draw.randrange(8, 64), draw.randrange(20, 512))).cuda()
        vectors = model(embed(tokens)).mean(dim=1)
        vectors.cpu()
        del vectors
    print("done")


if __name__ == "__main__":
    main()
