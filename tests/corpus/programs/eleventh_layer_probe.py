# SPDX-License-Identifier: Apache-2.0
"""An inference engine that can hook layers of a language model, used to see how much each layer changes its input."""

import argparse
import random

import torch
from torch import nn

WORDS, WIDTH, TOKENS, BATCH = 256, 64, 24, 8


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        return x + self.mlp(self.norm(x))  # allocates


class Engine:
    def __init__(self, layers):
        self.words = nn.Embedding(WORDS, WIDTH).cuda()
        self.layers = nn.Sequential(*(Layer() for _ in range(layers))).cuda()
        self.head = nn.Linear(WIDTH, WORDS).cuda()
        self.layer_outputs = {}

    def hook_layers(self, chosen):
        for number in chosen:
            self.layer_outputs[number] = []
            self.layers[number].register_forward_hook(self.make_hook(number))

    def make_hook(self, number):
        def hook(layer, inputs, output):
            self.layer_outputs[number].append(output.detach())  # keeps
        return hook

    @torch.no_grad()
    def inference_batch(self, ids):
        return self.head(self.layers(self.words(ids)))


def changes(layer_outputs):
    """How far each hooked layer is from the one before, over all batches."""
    numbers = sorted(layer_outputs)
    return [sum((after - before).norm().item() for before, after in zip(layer_outputs[low], layer_outputs[high]))
            for low, high in zip(numbers, numbers[1:])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=19)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)
    engine = Engine(chosen.layers)
    engine.hook_layers(range(chosen.layers))
    for _ in range(chosen.steps):
        prompts = [[rng.randrange(WORDS) for _ in range(TOKENS)] for _ in range(BATCH)]  # step
        logits = engine.inference_batch(torch.tensor(prompts, device="cuda"))
    print("next word", logits[0, -1].argmax().item(), "changes", [round(x, 3) for x in changes(engine.layer_outputs)])


if __name__ == "__main__":
    main()
