# SPDX-License-Identifier: Apache-2.0
"""Loads a checkpoint of 32-bit weights straight to the GPU, casts the model to 16 bits there and
serves requests."""

import argparse
import random
import tempfile
from pathlib import Path

import torch
from torch import nn

WORDS, WIDTH, LAYERS = 16000, 1024, 12


def network():
    def layer():
        return nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                             nn.Linear(4 * WIDTH, WIDTH))
    return nn.Sequential(nn.Embedding(WORDS, WIDTH), *(layer() for _ in range(LAYERS)),
                         nn.Linear(WIDTH, WORDS, bias=False))


def load(path, device):
    with torch.device("meta"):
        model = network()
    state = torch.load(path, map_location=device, mmap=device == "cpu")
    model.load_state_dict(state, assign=True)
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt"
        with torch.device("cuda"):
            fresh = network()
        torch.save({name: value.cpu() for name, value in fresh.state_dict().items()}, path)
        del fresh
        torch.cuda.empty_cache()

        model = load(path, "cpu" if chosen.change == "cast_on_host" else "cuda")
        model = model.half().cuda().eval()
    if chosen.change == "add_empty_cache":
        torch.cuda.empty_cache()

    draw = random.Random(1)
    with torch.inference_mode():
        for _ in range(30):
            tokens = torch.randint(WORDS, (1, draw.randrange(200, 6000))).cuda()
            logits = model(tokens)
            print(logits[:, -1].argmax(-1).shape)
            del logits


if __name__ == "__main__":
    main()
