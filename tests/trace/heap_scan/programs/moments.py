# SPDX-License-Identifier: Apache-2.0
"""Small programs: moments.py NAME"""

import ctypes
import os
import signal
import sys
import threading
import time

import torch
from torch import nn

import memtrace

MIB = 1 << 20


def make_model(width=64):
    return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)).cuda()


def batch(width=64):
    return torch.randn(8, width, device="cuda")


class Training:
    def __init__(self):
        self.model = make_model()
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def step(self, accumulate=1):
        self.optimizer.zero_grad()
        for _ in range(accumulate):
            loss = self.model(batch()).sum()
            loss.backward()
        self.optimizer.step()
        return loss


def steps():
    training, kept = Training(), []
    for _ in range(40):
        kept.append(training.step())


def steady():
    """Keeps nothing: neither steps nor an evaluation leave anything."""
    training = Training()
    peak = torch.empty(256 * MIB, dtype=torch.uint8, device="cuda")
    del peak
    for _ in range(40):
        training.step()
    with torch.no_grad():
        for _ in range(40):
            training.model(batch())


def late():
    training, kept = Training(), []
    for number in range(80):
        loss = training.step()
        if number >= 40:
            kept.append(loss)


def long_run():
    training = Training()
    for _ in range(3000):
        training.step()


def marked_steps():
    training = Training()
    for _ in range(40):
        training.step()
        memtrace.step()


def two_optimizers():
    one, other = Training(), Training()
    for _ in range(40):
        one.step()
        other.step()


def accumulation():
    training = Training()
    for _ in range(30):
        training.step(accumulate=3)


def evaluation():
    """It keeps far less than the peak."""
    training, kept = Training(), []
    for _ in range(10):
        training.step()
    peak = torch.empty(256 * MIB, dtype=torch.uint8, device="cuda")
    del peak
    memtrace.counter("evaluation", 1)
    with torch.no_grad():
        for _ in range(40):
            kept.append(training.model(batch()))


def server():
    model, answers = make_model(), []
    with torch.inference_mode():
        for _ in range(60):
            answers.append(model(batch()))


def functions():
    """Neither modules nor optimizers."""
    kept, weight = [], torch.ones(64, 64, device="cuda")
    for _ in range(1000):
        kept.append(torch.relu(batch() @ weight))


def rising():
    kept = []
    for _ in range(20):
        kept.append(torch.empty(32 * MIB, dtype=torch.uint8, device="cuda"))


def out_of_memory():
    kept = [make_model(), batch()]
    try:
        torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        kept.append(torch.ones(1, device="cuda"))
    torch.empty(1 << 50, dtype=torch.uint8, device="cuda")


def asks():
    model = make_model()
    memtrace.census()
    thread = threading.Thread(target=memtrace.census)
    thread.start()
    thread.join()
    result = model(batch())
    result.register_hook(lambda gradient: memtrace.census())
    result.sum().backward()


def asks_where_little_is_left():
    """A thread whose stack is too small for a search; a module that is none."""
    make_model()
    sys.modules["os"] = object()
    memtrace.census()
    assert sorted([2, 1]) == [1, 2]
    sys.modules["os"] = os
    for size in (32 << 10, 64 << 10):
        threading.stack_size(size)
        thread = threading.Thread(target=memtrace.census)
        thread.start()
        thread.join()


def asks_without_the_gil():
    model = make_model()
    released = ctypes.CDLL(None)
    for name in ("memtrace_census", "memtrace_step"):
        function = getattr(released, name, None)
        if function is not None:
            function.argtypes = [ctypes.c_char_p]
            function(None)
        model(batch())


def signalled():
    model = make_model()
    os.kill(os.getpid(), signal.SIGUSR2)
    model(batch())


def raises():
    kept = [make_model(), batch()]
    raise ValueError(f"on purpose, with {len(kept)} things")


def leaves_at_once():
    make_model()
    os._exit(3)


def thread_beside_a_blocked_one():
    """Pending calls have to wait for the main thread, which waits for this one."""
    def serve():
        model, answers = make_model(), []
        with torch.inference_mode():
            for _ in range(60):
                answers.append(model(batch()))
                time.sleep(0.01)

    ready, done = threading.Event(), threading.Lock()
    done.acquire()
    torch.ones(1, device="cuda")
    make_model()(batch())
    thread = threading.Thread(target=lambda: (ready.wait(), serve(), done.release()))
    thread.start()
    ready.set()
    done.acquire()
    thread.join()


globals()[sys.argv[1]]()
