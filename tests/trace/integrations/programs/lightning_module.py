# SPDX-License-Identifier: Apache-2.0
"""A Lightning Trainer: 24 batches, an update after every other one, a validation at the end."""

import json
import sys

import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.loggers import CSVLogger
from memtrace.integrations.lightning import MemtraceCallback
from torch.utils.data import DataLoader


class Net(LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1))

    def training_step(self, batch, index):
        return self.layers(batch).mean()

    def validation_step(self, batch, index):
        self.layers(batch.repeat(8, 1))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


trainer = Trainer(
    accelerator="gpu", devices=1, max_epochs=1, limit_train_batches=24, accumulate_grad_batches=2,
    logger=CSVLogger(sys.argv[1]), callbacks=[MemtraceCallback(every_s=float(sys.argv[2]))],
    num_sanity_val_steps=0, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Net(), DataLoader(torch.randn(24 * 16, 256), 16), DataLoader(torch.randn(32, 256), 16))
print("torch", json.dumps([torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()]))
print("updates", trainer.global_step)
