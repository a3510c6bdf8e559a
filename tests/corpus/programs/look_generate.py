# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's GPT-2 answers prompts of different lengths with `generate` and its cache."""

import argparse
import os
import random

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=600, n_positions=256, n_embd=64, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=None,
    )).cuda().eval()
    answers = []
    for request in range(chosen.steps):
        prompt = torch.randint(600, (4, rng.randrange(16, 129))).cuda()
        written = model.generate(
            prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=rng.randrange(3, 9),
            do_sample=False, pad_token_id=0,
        )
        answers.extend(written[:, prompt.shape[1]:].tolist())
    print(len(answers), "answers")


if __name__ == "__main__":
    main()
