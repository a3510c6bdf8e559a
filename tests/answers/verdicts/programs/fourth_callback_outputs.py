# SPDX-License-Identifier: Apache-2.0
"""A trainer with callbacks, one of which draws the confusion of the last epoch's outputs."""

import argparse
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=45)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
EPOCH = 9


class Callback:
    def on_batch_end(self, trainer, outputs):
        pass

    def on_epoch_end(self, trainer):
        pass


class Confusion(Callback):
    def __init__(self):
        self.by_epoch = defaultdict(list)

    def on_batch_end(self, trainer, outputs):
        self.by_epoch[trainer.epoch].append({"logits": outputs["logits"].detach()})  # keeps

    def on_epoch_end(self, trainer):
        logits = torch.cat([one["logits"] for one in self.by_epoch[trainer.epoch]])
        print(trainer.epoch, logits.argmax(1).bincount(minlength=50).shape)


class Trainer:
    def __init__(self, model, callbacks):
        self.model, self.callbacks, self.epoch = model, callbacks, 0
        self.optimizer = torch.optim.Adam(model.parameters())

    def training_step(self, x, y):
        logits = self.model(x)  # allocates
        return {"loss": F.cross_entropy(logits, y), "logits": logits}

    def fit(self, steps):
        for step in range(steps):
            x = torch.randn(512, 64, device="cuda")  # step
            outputs = self.training_step(x, torch.randint(0, 50, (512,)).cuda())
            self.optimizer.zero_grad()
            outputs["loss"].backward()
            self.optimizer.step()
            for callback in self.callbacks:
                callback.on_batch_end(self, outputs)
            if step % EPOCH == EPOCH - 1:
                for callback in self.callbacks:
                    callback.on_epoch_end(self)
                self.epoch += 1


model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 50)).cuda()
Trainer(model, [Confusion()]).fit(options.steps)
