# SPDX-License-Identifier: Apache-2.0
"""Asks for a census in every place that a program has, and prints what it sees of it: nothing.

Without memtrace the same calls do nothing."""

import gc
import io
import os
import signal
import sys
import threading
import weakref

sys.path.insert(0, os.environ["PACKAGE"])

import torch

import memtrace
import models
from saying import bits, digest, say

looked = []


class Watched:
    """Tells whoever looks: no census may."""

    def __init__(self):
        self.held = torch.ones(4, device="cuda")

    @property
    def tensor(self):
        looked.append("property")
        return self.held

    def __getattr__(self, name):
        looked.append(f"getattr {name}")
        raise AttributeError(name)

    def __len__(self):
        looked.append("len")
        return 1

    def __iter__(self):
        looked.append("iter")
        return iter(())

    def __repr__(self):
        looked.append("repr")
        return "Watched"

    def __eq__(self, other):
        looked.append("eq")
        return self is other

    def __hash__(self):
        looked.append("hash")
        return 1

    def __del__(self):
        memtrace.census()
        looked.append("del")


class WatchedDict(dict):
    def __iter__(self):
        looked.append("dict iter")
        return super().__iter__()

    def items(self):
        looked.append("dict items")
        return super().items()


class Mode(torch.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        looked.append(f"dispatch {function}")
        return function(*args, **(kwargs or {}))


class Doubles(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        memtrace.census()
        context.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(context, gradient):
        memtrace.census()
        return gradient * 2 + context.saved_tensors[0] * 0


def saved(thing) -> str:
    target = io.BytesIO()
    torch.save(thing, target)
    return digest(target.getvalue())


def train(device):
    model, handle = models.hooked(device)
    optimizer = torch.optim.AdamW(model.parameters())
    losses = []
    for _ in range(6):
        losses.append(models.step(model, optimizer, device).detach())
        memtrace.census()
    say(f"{device} losses", [bits(loss) for loss in losses])
    say(f"{device} as saved", [saved(optimizer.state_dict()), saved(model)])
    say(f"{device} references", [
        [sys.getrefcount(value), sys.getrefcount(value.grad), value._version, vars(value)]
        for value in model.parameters()])
    say(f"{device} fields", [sorted(vars(module)) for module in model.modules()])


def lifetimes():
    died = []

    def inner():
        kept = torch.ones(8, device="cuda")
        weakref.finalize(kept, died.append, "local").atexit = False
        memtrace.census()
        names = locals()
        memtrace.census()
        say("locals", sorted(names))
        del names
        del kept
        died.append("after del")

    inner()
    things = [torch.ones(8, device="cuda") for _ in range(4)]
    for number, thing in enumerate(things):
        weakref.finalize(thing, died.append, number).atexit = False
    memtrace.census()
    things.reverse()
    del thing
    while things:
        things.pop()
        memtrace.census()
    say("died", died)


def objects():
    """A census makes no object and leaves nothing to the collector."""
    memtrace.census()
    gc.collect()
    counts = []
    for _ in range(5):
        before = gc.get_count()[0], len(gc.get_objects())
        memtrace.census()
        after = gc.get_count()[0], len(gc.get_objects())
        counts.append([one - other for one, other in zip(after, before)])
    say("objects", counts)
    blocks = []
    for _ in range(5):
        before = sys.getallocatedblocks()
        memtrace.census()
        blocks.append(sys.getallocatedblocks() - before)
    say("blocks", blocks[1:])
    say("garbage", [gc.collect(), gc.garbage])


def in_callbacks():
    order = []

    def on_collection(phase, info):
        memtrace.census()
        order.append(phase)

    cycle = [torch.ones(4, device="cuda")]
    cycle.append(cycle)
    weakref.finalize(cycle[0], lambda: (memtrace.census(), order.append("finalized")))
    gc.callbacks.append(on_collection)
    del cycle
    say("collected", gc.collect())
    gc.callbacks.remove(on_collection)
    say("order", order)
    x = torch.ones(4, device="cuda", requires_grad=True)
    x.register_hook(lambda gradient: memtrace.census())
    x.register_post_accumulate_grad_hook(lambda leaf: memtrace.census())
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: packed.append("pack") or memtrace.census() or tensor,
            lambda tensor: packed.append("unpack") or memtrace.census() or tensor):
        y = (Doubles.apply(x) * x).sum()
    memtrace.census()
    y.backward(retain_graph=True)
    memtrace.census()
    y.backward()
    say("packed", packed)
    say("gradient", bits(x.grad))


def watched_objects():
    watched, fields = Watched(), WatchedDict(key=torch.ones(4, device="cuda"))
    looked.clear()
    with Mode():
        memtrace.census()
        looked.append("inside a mode")
        memtrace.census()
    fields["watched"] = watched
    memtrace.census()
    say("looked", looked)
    del watched
    fields.clear()
    say("looked", looked)


def interrupted():
    """Signals that come during a census are handled after it, as anywhere."""
    count = 0

    def on_alarm(number, frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, on_alarm)
    for _ in range(10):
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        try:
            while True:
                memtrace.census()
        except KeyboardInterrupt:
            count += 1
    say("interrupted", count)


def threads():
    """Train on the CPU and on the GPU while the main thread looks."""
    results = {}

    def work(number):
        layer = torch.nn.Linear(16, 16, bias=False)
        layer.weight.data.fill_(number)
        inputs = torch.arange(64.0).reshape(4, 16)
        weight = torch.ones(16, 16, device="cuda", requires_grad=True)
        for _ in range(30):
            layer(inputs).square().sum().backward()
            (weight @ weight).sum().backward()
        results[number] = bits(layer.weight.grad), bits(weight.grad)

    running = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in running:
        thread.start()
    for _ in range(10):
        memtrace.census()
    for thread in running:
        thread.join()
    say("threads", sorted(results.items()))


def generators():
    def steps():
        kept = torch.ones(4, device="cuda")
        for number in range(3):
            memtrace.census()
            yield number
        del kept

    running = steps()
    next(running)
    memtrace.census()
    say("generator", [*running])

    async def coroutine():
        kept = torch.ones(4, device="cuda")
        memtrace.census()
        return kept.shape

    import asyncio
    say("coroutine", asyncio.run(coroutine()))


def captured():
    x = torch.zeros(16, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x + 1
        memtrace.census()
    graph.replay()
    say("captured", [y.shape, torch.cuda.is_current_stream_capturing()])


def main():
    torch.ones(1, device="cuda")
    for part in (objects, lifetimes, in_callbacks, watched_objects, interrupted, threads, generators,
                 captured):
        part()
    train("cpu")
    train("cuda")
    say("memory", [torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()])


main()
