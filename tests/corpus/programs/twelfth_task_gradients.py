# SPDX-License-Identifier: Apache-2.0
"""Learns one task after the other; a gradient may not point against those of the tasks before, taken from a buffer."""

import argparse

import torch
from torch import nn
from torch.nn import functional

TASKS, TASK_STEPS, BUFFER, INPUTS, CLASSES = 8, 4, 56, 64, 10


class Buffer:
    """Examples of the tasks so far, in equal parts; in the host's memory."""

    def __init__(self, size):
        self.size, self.parts = size, []

    def fill(self, task_examples):
        share = self.size // (len(self.parts) + 1)
        self.parts = [tuple(part[:share] for part in examples) for examples in [*self.parts, task_examples]]


class GradientMemory:
    def __init__(self, net):
        self.net, self.buffer = net, Buffer(BUFFER)
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
        self.grad_dims = [parameter.numel() for parameter in net.parameters()]
        self.grads_cs = []
        self.grads_da = torch.zeros(sum(self.grad_dims)).cuda()

    def end_task(self, examples):
        self.grads_cs.append(torch.zeros(sum(self.grad_dims)).cuda())
        self.buffer.fill(examples)

    def store_grad(self, grads):
        parts = grads.split(self.grad_dims)
        for part, parameter in zip(parts, self.net.parameters()):
            part.copy_(parameter.grad.view(-1))

    def overwrite_grad(self, grads):
        for part, parameter in zip(grads.split(self.grad_dims), self.net.parameters()):
            parameter.grad.copy_(part.view_as(parameter))

    def backward(self, inputs, labels):
        self.optimizer.zero_grad()
        loss = functional.cross_entropy(self.net(inputs.cuda()), labels.cuda())
        loss.backward()
        return loss

    def project(self):
        """Takes away, task by task, what points against the task's gradient."""
        for past in torch.stack(self.grads_cs):
            against = (self.grads_da @ past).clamp(max=0) / (past @ past + 1e-9)
            self.grads_da.sub_(against * past)

    def observe(self, inputs, labels):
        for grads, examples in zip(self.grads_cs, self.buffer.parts):
            self.backward(*examples)
            self.store_grad(grads)
        loss = self.backward(inputs, labels)
        if self.grads_cs:
            self.store_grad(self.grads_da)
            self.project()
            self.overwrite_grad(self.grads_da)
        self.optimizer.step()
        return loss.item()


def examples_of(task, count):
    return torch.randn(count, INPUTS) + task, torch.randint(CLASSES, (count,))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    net = nn.Sequential(nn.Linear(INPUTS, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, CLASSES))
    learner, task = GradientMemory(net.cuda()), 0
    for step in range(chosen.steps):
        now = min(step // TASK_STEPS, TASKS - 1)  # step
        if now != task:
            learner.end_task(examples_of(task, BUFFER))
            task = now
        loss = learner.observe(*examples_of(task, 16))
    print(f"task {task}, loss {loss:.3f}")


if __name__ == "__main__":
    main()
