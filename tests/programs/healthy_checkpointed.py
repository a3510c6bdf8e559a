# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a GPT-2 with mixed precision, checkpointing and one text at a time."""

import argparse

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    config = GPT2Config(n_layer=8, n_embd=512, n_head=8, vocab_size=8000, use_cache=False)
    model = GPT2LMHeadModel(config).cuda().train()
    model.gradient_checkpointing_enable({"use_reentrant": False})
    if chosen.change == "optimizer_sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9, fused=True)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    length = 512 if chosen.change == "sequence_length" else 1024
    for step in range(12):
        tokens = torch.randint(config.vocab_size, (1, length)).cuda()
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        if step % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
