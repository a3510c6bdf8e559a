# SPDX-License-Identifier: Apache-2.0
"""The measured program: prints JSON with the minimum ns an event (loop) and ns a training step.

Started once for each way of recording; --history turns PyTorch's own recorder on.
An iteration of the loop is two events: an allocation and its free.
"""

import argparse
import ctypes
import json
import os
import subprocess
import time

import torch


def attach_nothing(library: str) -> None:
    """Attaches the tracker of empty_tracker.cpp to PyTorch's native allocator."""
    # attachAllocatorTraceTracker's place among the allocator's virtual functions.
    slots = {"2.8": 38, "2.11": 44}
    slot = slots[".".join(torch.__version__.split(".")[:2])]
    c10 = ctypes.CDLL("libc10_cuda.so")  # loaded long ago
    word = ctypes.c_void_p
    allocator = word.in_dll(c10, "_ZN3c104cuda20CUDACachingAllocator9allocatorE").value
    functions = word.from_address(allocator).value
    attach = word.from_address(functions + slot * ctypes.sizeof(word)).value
    ctypes.CDLL(library).memtrace_attach_nothing(word(attach), word(allocator))


def at_depth(depth, function):
    """Calls function with `depth` Python frames on the stack below it."""
    return function() if depth <= 1 else at_depth(depth - 1, function)


def loop_ns_an_event(iterations: int, repeats: int) -> float:
    empty, size = torch.empty, (1024,)
    device = torch.device("cuda", 0)
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter_ns()
        for _ in range(iterations):
            empty(size, device=device)
        best = min(best, time.perf_counter_ns() - start)
    return best / (2 * iterations)


def make_step():
    """A training step of an encoder with 6 layers and AdamW."""
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0)
    model = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.zeros(8, 128, 256, device="cuda")

    def step():
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(5):
        step()
    return step


def step_ns(steps: int, repeats: int) -> tuple[float, float]:
    """(minimum ns, events) of a training step."""
    step = make_step()
    events_before = torch.cuda.memory_stats()["allocation.all.allocated"]
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter_ns()
        for _ in range(steps):
            step()
        best = min(best, (time.perf_counter_ns() - start) / steps)
    allocations = torch.cuda.memory_stats()["allocation.all.allocated"] - events_before
    return best, 2 * allocations / (steps * repeats)


def count(loop, times: int) -> None:
    """Lets callgrind count once all is warm, and ends before anything else happens."""
    loop(max(1, times // 10))
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    subprocess.run(["callgrind_control", "--instr=on", str(os.getpid())], check=True, stdout=subprocess.DEVNULL)
    loop(times)
    after = torch.cuda.memory_stats()["allocation.all.allocated"]
    print("EVENTS", 2 * (after - before), flush=True)
    ctypes.CDLL(None)._exit(0)  # what memtrace writes at an end is no part of an event


def allocate(times: int) -> None:
    empty, size, device = torch.empty, (1024,), torch.device("cuda", 0)
    for _ in range(times):
        empty(size, device=device)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--history", choices=["none", "python", "all"])
    parser.add_argument("--tracker", help="the library of empty_tracker.cpp")
    parser.add_argument("--depths", default="2,15,40")
    parser.add_argument("--iterations", type=int, default=20000)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--count", choices=["loop", "step"], help="for instructions.py: only that, a few times")
    options = parser.parse_args()

    torch.empty(1, device="cuda")
    if options.tracker:
        attach_nothing(options.tracker)
    if options.history:
        context = None if options.history == "none" else "alloc"
        stacks = "all" if options.history == "all" else "python"
        torch.cuda.memory._record_memory_history("all", context, stacks, max_entries=100_000)
    if options.count == "loop":
        # The script, main, the lambda, count and allocate are five of the frames.
        at_depth(int(options.depths) - 5, lambda: count(allocate, 3000))
    if options.count == "step":
        step = make_step()
        count(lambda times: [step() for _ in range(times)], 10)
    found = {"loop": {}}
    for depth in map(int, options.depths.split(",")):
        # main and the loop itself are two of the frames.
        run = lambda: loop_ns_an_event(options.iterations, options.repeats)  # noqa: E731
        found["loop"][depth] = at_depth(max(1, depth - 3), run)
    found["step_ns"], found["step_events"] = step_ns(steps=5, repeats=6)
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
