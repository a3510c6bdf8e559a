# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a GPT-2 on long texts with mixed precision: what the layers keep for backward is most of
the memory."""

import argparse
import functools

import torch
from torch.utils.checkpoint import checkpoint
from transformers import GPT2Config, GPT2LMHeadModel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    config = GPT2Config(n_layer=16, n_embd=512, n_head=8, vocab_size=8000, use_cache=False)
    model = GPT2LMHeadModel(config).cuda().train()
    if chosen.change.startswith("checkpointing="):
        for module in model.modules():
            if type(module).__name__ == chosen.change.partition("=")[2]:
                module.forward = functools.partial(checkpoint, module.forward, use_reentrant=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    batch = 8
    parts = {"train_batch_half": 2, "train_batch_quarter": 4}.get(chosen.change, 1)
    length = 512 if chosen.change == "sequence_length" else 1024
    for _ in range(6):
        tokens = torch.randint(config.vocab_size, (batch, length)).cuda()
        for part in tokens.chunk(parts):
            with torch.autocast("cuda", torch.bfloat16):
                loss = model(input_ids=part, labels=part).loss
            (loss / parts).backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
