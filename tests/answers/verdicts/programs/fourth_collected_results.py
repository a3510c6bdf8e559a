# SPDX-License-Identifier: Apache-2.0
"""A thread evaluates copies of the model; the trainer takes each result out when it is there."""

import argparse
import copy
import queue
import threading

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=43)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Evaluator:
    def __init__(self, held_out):
        self.held_out, self.jobs, self.done = held_out, queue.Queue(), queue.Queue()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while True:
            job = self.jobs.get()
            if job is None:
                return
            with torch.no_grad():
                self.done.put((job[0], job[1](self.held_out)))
            del job
            self.jobs.task_done()

    def ask(self, step, model):
        self.jobs.put((step, copy.deepcopy(model).eval()))

    def result(self):
        step, answer = self.done.get()
        return step, answer.mean().item()


model = nn.Sequential(nn.Linear(64, 128), nn.ELU(), nn.Dropout(0.1), nn.Linear(128, 400)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
evaluator, asked = Evaluator(torch.randn(512, 64, device="cuda")), 0
for step in range(options.steps):
    optimizer.zero_grad()  # step
    model(torch.randn(64, 64, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    evaluator.ask(step, model)
    evaluator.jobs.join()  # so that every run is the same
    asked += 1
    if asked > 3:
        print(*evaluator.result())
        asked -= 1
evaluator.jobs.put(None)
