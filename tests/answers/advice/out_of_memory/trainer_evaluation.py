# SPDX-License-Identifier: Apache-2.0
"""A Trainer whose evaluation gathers the logits on the GPU."""
import sys

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Words(Dataset):
    def __init__(self, size): self.size = size
    def __len__(self): return self.size
    def __getitem__(self, i):
        words = torch.randint(50257, (256,), generator=torch.Generator().manual_seed(i))
        return {"input_ids": words, "labels": words}


model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_embd=256, n_head=4))
arguments = TrainingArguments("out", per_device_train_batch_size=8, per_device_eval_batch_size=8, max_steps=8, report_to=[],
                              eval_strategy="steps", eval_steps=4, save_strategy="no", disable_tqdm=True, dataloader_pin_memory=False,
                              eval_accumulation_steps=1 if "--changed" in sys.argv else None)
Trainer(model, arguments, train_dataset=Words(64), eval_dataset=Words(160), compute_metrics=lambda p: {}).train()
