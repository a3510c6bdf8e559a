# SPDX-License-Identifier: Apache-2.0
"""A trainer in the manner of Hugging Face's: arguments, state, callbacks."""

import argparse
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class TrainingArguments:
    max_steps: int
    learning_rate: float = 5e-5
    logging_steps: int = 2


@dataclass
class TrainerState:
    global_step: int = 0
    log_history: list = field(default_factory=list)


class Tagger(nn.Module):
    def __init__(self, vocabulary=500, width=96, tags=200):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layer = nn.TransformerEncoderLayer(width, 4, 192, batch_first=True)
        self.classifier = nn.Linear(width, tags)

    def forward(self, input_ids, labels):
        logits = self.classifier(self.layer(self.embed(input_ids)))  # allocates
        return {"loss": F.cross_entropy(logits.flatten(0, 1), labels.flatten()), "logits": logits}


class LoggingCallback:
    def on_step_end(self, args, state, outputs):
        if state.global_step % args.logging_steps == 0:
            entry = {name: value.detach() for name, value in outputs.items()}
            state.log_history.append({"step": state.global_step, **entry})  # keeps
            print(state.log_history[-1]["step"], state.log_history[-1]["loss"].item())


class Trainer:
    def __init__(self, model, args, callbacks):
        self.model, self.args, self.callbacks = model, args, callbacks
        self.state = TrainerState()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)

    def training_step(self, batch):
        outputs = self.model(**batch)
        outputs["loss"].backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return outputs

    def train(self, batches):
        while self.state.global_step < self.args.max_steps:
            batch = {name: value.cuda() for name, value in next(batches).items()}  # step
            outputs = self.training_step(batch)
            self.state.global_step += 1
            for callback in self.callbacks:
                callback.on_step_end(self.args, self.state, outputs)


def sentences():
    while True:
        yield {"input_ids": torch.randint(500, (16, 64)), "labels": torch.randint(200, (16, 64))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    Trainer(Tagger().cuda(), TrainingArguments(args.steps), [LoggingCallback()]).train(sentences())


if __name__ == "__main__":
    main()
