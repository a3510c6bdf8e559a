# SPDX-License-Identifier: Apache-2.0
"""Trains all of, or LoRA on, a T5 of 3 B, an mT5 of 13 B, or a BLOOM of 7 B parameters in fp32. Prints what torch counted."""

import argparse
import json
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from peft import LoraConfig, get_peft_model
from transformers import BloomConfig, BloomForCausalLM, T5Config, T5ForConditionalGeneration

T5 = dict(feed_forward_proj="gated-gelu", decoder_start_token_id=0, use_cache=False)
MODELS = {
    "T0_3B": lambda: T5ForConditionalGeneration(T5Config(
        d_model=2048, d_ff=5120, d_kv=64, num_layers=24, num_heads=32, vocab_size=32128, tie_word_embeddings=False, **T5)),
    "mt0-xxl": lambda: T5ForConditionalGeneration(T5Config(
        d_model=4096, d_ff=10240, d_kv=64, num_layers=24, num_heads=64, vocab_size=250112, tie_word_embeddings=False, **T5)),
    "bloomz-7b1": lambda: BloomForCausalLM(BloomConfig(
        hidden_size=4096, n_layer=30, n_head=32, vocab_size=250880, use_cache=False)),
}

parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=MODELS, required=True)
parser.add_argument("--lora", action="store_true")
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--length", type=int, required=True)
chosen = parser.parse_args()
with torch.device("cuda"):
    model = MODELS[chosen.model]()
if chosen.lora:
    model = get_peft_model(model, LoraConfig(r=8, lora_alpha=32, lora_dropout=0.1, target_modules=(
        ["query_key_value"] if chosen.model.startswith("bloom") else ["q", "v"])))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-3, foreach=False)
model.train()
for _ in range(2):
    tokens = torch.ones(chosen.batch, chosen.length, dtype=torch.long, device="cuda")
    labels = tokens if chosen.model.startswith("bloom") else tokens[:, :4].contiguous()
    model(input_ids=tokens, labels=labels).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(json.dumps({"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}))
