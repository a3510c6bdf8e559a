# SPDX-License-Identifier: Apache-2.0
"""A loop of accelerate's own style, with its TensorBoard tracker, that keeps something of every step."""

import json
import sys

import torch
from accelerate import Accelerator
from memtrace.integrations.accelerate import MemtraceLog

accelerator = Accelerator(log_with="tensorboard", project_dir=sys.argv[1])
accelerator.init_trackers("run")
model = torch.nn.Linear(256, 256)
optimizer = torch.optim.AdamW(model.parameters())
model, optimizer = accelerator.prepare(model, optimizer)
numbers = MemtraceLog(accelerator, every_s=3600)
kept = []
for step in range(30):
    output = model(torch.randn(16, 256, device=accelerator.device))
    accelerator.backward(output.mean())
    optimizer.step()
    optimizer.zero_grad()
    kept.append(torch.zeros(1 << 18, device=accelerator.device))  # 1 MiB that nobody needs
    numbers.log(step)
numbers.finish(step)
accelerator.end_training()
print("torch", json.dumps([torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()]))
