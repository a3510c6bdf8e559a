# SPDX-License-Identifier: Apache-2.0
"""A Trainer over a tiny model made from a configuration: 12 steps, two evaluations, a checkpoint."""

import json
import sys

import torch
from memtrace.integrations.huggingface import MemtraceCallback
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

folder, way, accumulation = sys.argv[1], sys.argv[2], int(sys.argv[3])
config = GPT2Config(vocab_size=128, n_positions=32, n_embd=64, n_layer=2, n_head=2)
torch.manual_seed(0)


def rows(count: int) -> list[dict]:
    tokens = torch.randint(0, 128, (count, 32))
    return [{"input_ids": row, "labels": row} for row in tokens]


arguments = TrainingArguments(
    output_dir=folder, max_steps=12, per_device_train_batch_size=4, per_device_eval_batch_size=16,
    gradient_accumulation_steps=accumulation, eval_strategy="steps", eval_steps=6, save_strategy="steps",
    save_steps=12, logging_steps=3, report_to="tensorboard", disable_tqdm=True, dataloader_pin_memory=False)
evaluations = []


class Watched(Trainer):
    def evaluate(self, *arguments, **named):
        before = torch.cuda.max_memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        result = super().evaluate(*arguments, **named)
        evaluations.append(torch.cuda.max_memory_allocated())
        highest.append(before)
        return result


highest = []
callback = MemtraceCallback(every_s=0 if way == "often" else 3600)
trainer = Watched(model=GPT2LMHeadModel(config), args=arguments, train_dataset=rows(64), eval_dataset=rows(32),
                  callbacks=[callback] if way == "listed" else None)
if way != "listed":
    callback.attach(trainer)
trainer.train()
torch.cuda.synchronize()
print("history", json.dumps(trainer.state.log_history))
highest += [*evaluations, torch.cuda.max_memory_allocated()]
print("torch", json.dumps([max(highest), torch.cuda.max_memory_reserved()]))
print("evaluations", json.dumps(evaluations))
