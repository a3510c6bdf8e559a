# SPDX-License-Identifier: Apache-2.0
"""A small trainer: a module says what to log, the trainer reduces what was logged at the end of the epoch."""

import argparse

import torch
from torch import nn


class Result(dict):
    """What a training step gives back, with what was logged in it."""

    def __init__(self, minimize):
        super().__init__(minimize=minimize)
        self.meta = {}

    def log(self, name, value, on_epoch):
        self[name] = value
        self.meta[name] = on_epoch

    def detached(self):
        one = Result(self["minimize"].detach())
        for name, on_epoch in self.meta.items():
            one.log(name, self[name], on_epoch)
        return one


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(40, 80), nn.ReLU(), nn.Linear(80, 5))

    def training_step(self, batch):
        rows, labels = batch
        result = Result(nn.functional.cross_entropy(self.layers(rows), labels))  # allocates
        result.log("seen", len(rows), on_epoch=True)
        return result


class Trainer:
    def __init__(self, module, optimizer):
        self.module, self.optimizer = module, optimizer

    def run_batch(self, batch):
        self.optimizer.zero_grad()
        result = self.module.training_step(batch)
        result["minimize"].backward()
        self.optimizer.step()
        return result.detached()

    def run_epoch(self, batches):
        epoch_output = []
        for _ in range(batches):
            labels = torch.randint(5, (24,))  # step
            batch_output = self.run_batch((torch.randn(24, 40, device="cuda"), labels.cuda()))
            if any(batch_output.meta.values()):
                epoch_output.append(batch_output)  # keeps
        return self.reduce(epoch_output)

    def reduce(self, epoch_output):
        names = {name for one in epoch_output for name, on_epoch in one.meta.items() if on_epoch}
        return {name: sum(one[name] for one in epoch_output) / len(epoch_output) for name in names}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    module = Classifier().cuda()
    trainer = Trainer(module, torch.optim.SGD(module.parameters(), lr=0.05, momentum=0.9))
    print(trainer.run_epoch(chosen.steps))


if __name__ == "__main__":
    main()
