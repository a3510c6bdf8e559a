# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a small language model; its evaluation uses the largest batch that once fitted."""

import argparse

import torch
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel

WORDS, LENGTH = 16000, 256


@torch.no_grad()
def perplexity(model, batch):
    model.eval()
    total = 0.0
    for first in range(0, 256, batch):
        tokens = torch.randint(WORDS, (min(batch, 256 - first), LENGTH)).cuda()
        logits = model(input_ids=tokens).logits
        total += F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()).item()
        del logits
    model.train()
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    evaluation = 128
    if chosen.change.startswith("evaluation_batch=1/"):
        evaluation //= int(chosen.change.partition("/")[2])
    config = GPT2Config(n_layer=4, n_embd=384, n_head=6, vocab_size=WORDS, n_positions=LENGTH,
                        use_cache=False)
    model = GPT2LMHeadModel(config).cuda().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for step in range(8):
        tokens = torch.randint(WORDS, (16, LENGTH)).cuda()
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 4 == 3:
            print(f"step {step}: {perplexity(model, evaluation):.1f}")


if __name__ == "__main__":
    main()
