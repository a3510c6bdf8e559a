# SPDX-License-Identifier: Apache-2.0
"""A thread evaluates copies of the model while training goes on; the trainer asks how many are done."""

import argparse
import copy
import queue
import threading

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=34)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Evaluator(threading.Thread):
    def __init__(self, held_out):
        super().__init__(daemon=True)
        self.held_out, self.jobs, self.results = held_out, queue.Queue(maxsize=1), {}

    def run(self):
        while (job := self.jobs.get()) is not None:
            step, model = job
            with torch.no_grad():
                self.results[step] = model(self.held_out)  # allocates
            del job, model
            self.jobs.task_done()
        self.jobs.task_done()

    def best(self):
        last = max(self.results, default=None)
        return None if last is None else self.results[last].mean().item()


model = nn.Sequential(nn.Linear(32, 64), nn.ELU(), nn.Linear(64, 100)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
evaluator = Evaluator(torch.randn(512, 32, device="cuda"))
evaluator.start()
for step in range(options.steps):
    optimizer.zero_grad()  # step
    model(torch.randn(64, 32, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    evaluator.jobs.put((step, copy.deepcopy(model)))
    evaluator.jobs.join()
    evaluator.best()
evaluator.jobs.put(None)
evaluator.join()
