# SPDX-License-Identifier: Apache-2.0
"""One call of generate() of a small GPT-2 with 512 positions: 64 texts of 64 tokens each get 120 more."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import GPT2Config, GPT2LMHeadModel

PROMPT, NEW, POSITIONS, LAYERS, WIDTH, TEXTS = 64, 120, 512, 4, 512, 64

config = GPT2Config(vocab_size=1000, n_embd=WIDTH, n_layer=LAYERS, n_head=4, n_positions=POSITIONS, bos_token_id=0,
                    eos_token_id=1)
model = GPT2LMHeadModel(config).cuda().half().eval()
prompt = torch.randint(2, 1000, (TEXTS, PROMPT), device="cuda")
model.generate(prompt, max_new_tokens=NEW, do_sample=False, pad_token_id=1)  # generates
