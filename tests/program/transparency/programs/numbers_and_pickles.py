# SPDX-License-Identifier: Apache-2.0
"""Trains on the GPU and, in the same process, on the CPU, and prints every number to the bit, what
pickles, the allocator's events and counters, and the generators' states."""

import copy
import io
import pickle
import random

import torch

import models
from saying import bits, digest, say


def saved(thing) -> str:
    target = io.BytesIO()
    torch.save(thing, target)
    return digest(target.getvalue())


class TensorsApart(pickle.Pickler):
    """Pickle's own form of a tensor names the address of its storage, which differs in every run."""

    def persistent_id(self, thing):
        return bits(thing) if type(thing) is torch.Tensor else None


def pickled(thing) -> str:
    target = io.BytesIO()
    TensorsApart(target).dump(thing)
    return digest(target.getvalue())


def say_state(name, model, optimizer):
    for key, value in model.state_dict().items():
        say(f"{name} {key}", bits(value))
    for key, parameter in model.named_parameters():
        say(f"{name} gradient {key}", "none" if parameter.grad is None else bits(parameter.grad))
    say(f"{name} model as saved", saved(model))
    say(f"{name} state dict as saved", saved(model.state_dict()))
    say(f"{name} optimizer as saved", saved(optimizer.state_dict()))
    say(f"{name} optimizer pickled", pickled(optimizer))
    twin = copy.deepcopy(model)
    say(f"{name} copy as saved", saved(twin))
    say(f"{name} copy's names", [*twin.__dict__])


def train(device):
    model, handle = models.hooked(device)
    for name, optimizer in models.optimizers(list(model.parameters()), device):
        for number in range(3):
            loss = models.step(model, optimizer, device)
            say(f"{device} {name} loss {number}", bits(loss))
        say_state(f"{device} {name}", model, optimizer)
    lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=2)

    def closure():
        lbfgs.zero_grad()
        tokens = torch.arange(16).to(device)
        loss = torch.nn.functional.cross_entropy(model(tokens), tokens)
        loss.backward()
        return loss

    say(f"{device} closure", bits(lbfgs.step(closure)))
    say_state(f"{device} LBFGS", model, lbfgs)
    handle.remove()


def say_allocator():
    events = torch.cuda.memory._snapshot()["device_traces"][0]
    kept = [(event["action"], event.get("addr"), event["size"], event["stream"],
             [(frame["filename"], frame["line"], frame["name"]) for frame in event.get("frames", [])])
            for event in events]
    say("allocator events", f"{len(kept)} {digest(repr(kept))}")
    for name, value in sorted(torch.cuda.memory_stats().items()):
        say(f"allocator {name}", value)


def main():
    torch.cuda.memory._record_memory_history(context="all", stacks="python")
    random.seed(0)
    train("cuda")
    train("cpu")
    train("cuda")
    say_allocator()
    say("random", digest(repr(random.getstate())))
    say("torch's random", bits(torch.get_rng_state()))
    say("CUDA's random", bits(torch.cuda.get_rng_state()))


main()
