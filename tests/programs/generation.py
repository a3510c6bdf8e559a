# SPDX-License-Identifier: Apache-2.0
"""Inference only: Hugging Face's GPT-2 writes text with its KV cache."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import GPT2Config, GPT2LMHeadModel

import told
from batches import DEVICE, on_device, options, peak


def main():
    chosen = options(steps=40)
    config = GPT2Config(vocab_size=4000, n_positions=512, n_embd=256, n_layer=4, n_head=8,
                        bos_token_id=0, eos_token_id=None)
    model = GPT2LMHeadModel(config).to(DEVICE).eval()
    prompts = [(torch.randint(4000, (32, 256)),)]
    for (prompt,) in on_device(prompts, chosen.streams):
        mask = told.inputs(torch.ones_like(prompt), name="mask")
        written = model.generate(prompt, attention_mask=mask, max_new_tokens=chosen.steps,
                                 do_sample=False, pad_token_id=0)
    print(f"generation: {tuple(written.shape)}, peak {peak()} bytes")


if __name__ == "__main__":
    main()
