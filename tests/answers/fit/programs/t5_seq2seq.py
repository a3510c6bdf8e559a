# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a T5-base on long documents, fp32, with Adafactor as the paper did."""

import argparse
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import T5Config, T5ForConditionalGeneration

parser = argparse.ArgumentParser()
parser.add_argument("--train-batch-size", type=int, default=1)
parser.add_argument("--max-source-length", type=int, default=2048)
parser.add_argument("--max-target-length", type=int, default=512)
parser.add_argument("--steps", type=int, default=4)
args = parser.parse_args()

config = T5Config(d_model=768, d_kv=64, d_ff=3072, num_layers=12, num_heads=12, vocab_size=32128,
                  decoder_start_token_id=0, use_cache=False)
with torch.device("cuda"):
    model = T5ForConditionalGeneration(config)
optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-3)
for _ in range(args.steps):
    source = torch.ones(args.train_batch_size, args.max_source_length, dtype=torch.long)
    target = torch.ones(args.train_batch_size, args.max_target_length, dtype=torch.long)
    model(input_ids=source.cuda(), labels=target.cuda()).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
