# SPDX-License-Identifier: Apache-2.0
"""Prints when objects die, with the collector off and on, and what a step leaves to the collector."""

import gc
import weakref

import torch

import models
from saying import say

dead = []


def watch(name, thing):
    weakref.finalize(thing, dead.append, name).atexit = False


def watched(number, device):
    model, handle = models.hooked(device, number)
    optimizer = torch.optim.AdamW(model.parameters())
    loss = models.step(model, optimizer, device)
    for path, module in model.named_modules():
        watch(f"module {path}", module)
    for path, parameter in model.named_parameters():
        watch(f"parameter {path}", parameter)
        watch(f"gradient {path}", parameter.grad)
        for key, value in optimizer.state[parameter].items():
            watch(f"state {path} {key}", value)
    watch("buffer", model.scale)
    watch("optimizer", optimizer)
    watch("loss", loss)
    return model, optimizer, loss


def died(moment):
    say(moment, dead[:])
    dead.clear()


def one(number, device):
    model, optimizer, loss = watched(number, device)
    died(f"{device} alive")
    optimizer.zero_grad()
    died(f"{device} zero_grad")
    models.step(model, optimizer, device)
    del loss
    died(f"{device} without the loss")
    model.blocks[2] = torch.nn.Identity()
    died(f"{device} without a block")
    parameter = model.blocks[0].weights[0]
    parameter.data = torch.zeros(32, 32).to(device)
    del optimizer, parameter
    died(f"{device} without the optimizer")
    del model
    died(f"{device} without the model")
    say("found", gc.collect())
    died(f"{device} after collecting")


def inference(device):
    model, handle = models.hooked(device)
    with torch.no_grad():
        result = model(torch.arange(4).to(device))
    watch("model", model)
    watch("result", result)
    del result
    died("result")
    del model, handle
    died("model only run")


def objects_of_steps():
    """How many objects each step leaves for the collector, when the first ones are over."""
    model, handle = models.hooked("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(5):
        models.step(model, optimizer, "cuda")
    counts = []
    for _ in range(5):
        before = gc.get_count()[0]
        models.step(model, optimizer, "cuda")
        counts.append(gc.get_count()[0] - before)
    say("objects a step", counts)
    tracked = len(gc.get_objects())
    for _ in range(20):
        models.step(model, optimizer, "cuda")
    say("objects after twenty more", len(gc.get_objects()) - tracked)


def main():
    watched(0, "cuda")  # what PyTorch imports in its first step makes cycles
    gc.collect()
    dead.clear()
    gc.disable()
    for number in range(2):
        one(number, "cuda")
    one(2, "cpu")
    inference("cuda")
    objects_of_steps()
    gc.enable()
    say("found", gc.collect())
    say("memory", [torch.cuda.memory_allocated(), len(gc.garbage)])


main()
