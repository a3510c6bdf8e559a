# SPDX-License-Identifier: Apache-2.0
"""Follows PyTorch's allocations from inside the program, by torch.cuda._gpu_trace: its callback
runs right after each allocation, outside of the allocator's locks, on the allocating thread.

A moment is named by its ordinal: the number of allocations until then. Programs here are
deterministic, so that a first run finds the ordinals and a second observes there.
"""

import gc
import sys
import traceback

import torch
import torch.cuda._gpu_trace as gpu_trace

from observe import ROLES, Observation, storage_address

WATCHED_BEFORE = 16  # allocations before the moment: what autograd unpacked for the running node
WATCHED_AFTER = 40  # each after it: what operations hold that have not returned to Python
GROWTH = 1.15  # then ever more seldom


def follow(callback) -> None:
    gpu_trace.register_callback_for_memory_allocation(callback)
    torch._C._activate_gpu_trace()


def allocated_bytes() -> int:
    return torch._C._cuda_memoryStats(torch.cuda.current_device())["allocated_bytes"]["all"]["current"]


def call_site(depth: int = 8) -> list[str]:
    """The Python frames that allocate, innermost first; none on autograd's threads."""
    frame = sys._getframe(2)
    sites = []
    while frame is not None and len(sites) < depth:
        name = frame.f_code.co_filename
        if not name.endswith("_gpu_trace.py") and "_utils.py" not in name[-10:]:
            sites.append(f"{'/'.join(name.split('/')[-2:])}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return sites


class Finder:
    """The ordinal of the first highest peak of allocated bytes, of all and by phase."""

    def __init__(self):
        self.ordinal = 0
        self.peaks: dict[str, tuple[int, int]] = {}  # phase -> bytes, ordinal

    def __call__(self, _address: int) -> None:
        self.ordinal += 1
        allocated = allocated_bytes()
        in_backward = torch._C._current_graph_task_id() != -1
        phase = "backward" if in_backward else "grad" if torch.is_grad_enabled() else "no_grad"
        for name in ("all", phase):
            if allocated > self.peaks.get(name, (-1, 0))[0]:
                self.peaks[name] = allocated, self.ordinal


class Moment:
    """The blocks that are allocated at one moment, and every role each is seen in."""

    def __init__(self, ordinal: int, births: dict[int, int]):
        self.ordinal = ordinal
        self.allocated_bytes = allocated_bytes()
        self.blocks = {}
        device = torch.cuda.current_device()
        for segment in torch.cuda.memory_snapshot():
            for block in segment["blocks"] if segment["device"] == device else ():
                if block["state"] == "active_allocated":
                    self.blocks[block["address"]] = {
                        "address": block["address"], "bytes": block["size"],
                        "requested": block["requested_size"], "born": births.get(block["address"], 0),
                        "role": "rest", "seen": "", "what": "",
                    }

    def learn(self, roles: dict, births: dict[int, int], seen: str) -> None:
        for address, (role, what) in roles.items():
            block = self.blocks.get(address)
            if block is None or births.get(address, 0) != block["born"]:
                continue
            if block["role"] == "rest" or ROLES.index(role) < ROLES.index(block["role"]):
                block.update(role=role, seen=seen, what=what)

    def unexplained(self, births: dict[int, int]) -> bool:
        return any(block["role"] == "rest" and births.get(address, 0) == block["born"]
                   for address, block in self.blocks.items())


class Observer:
    """Collects the truth at the given ordinals."""

    def __init__(self, ordinals: list[int]):
        self.wanted = sorted(ordinals)
        self.ordinal = 0
        self.next_look = 0
        self.births: dict[int, int] = {}
        self.sites: dict[int, list[str]] = {}
        self.moments: list[Moment] = []
        self.before: list[tuple[int, dict, dict]] = []
        self.inputs: dict[int, tuple[int, str]] = {}  # address -> born, name
        self.observations = 0
        self.failures: list[str] = []

    def __call__(self, address: int) -> None:
        self.ordinal += 1
        self.births[address] = self.ordinal
        self.sites[address] = call_site()
        if self._due():
            try:
                self._look()
            except Exception:  # torch would only log it; the run is worthless then
                self.failures.append(traceback.format_exc())

    def _due(self) -> bool:
        near = any(-WATCHED_BEFORE <= self.ordinal - wanted <= WATCHED_AFTER for wanted in self.wanted)
        if near:
            self.next_look = self.ordinal + 1
            return True
        if not self.moments or self.ordinal < self.next_look:
            return False
        since = self.ordinal - self.moments[-1].ordinal
        self.next_look = self.ordinal + max(1, int(since * (GROWTH - 1)))
        return any(moment.unexplained(self.births) for moment in self.moments)

    def _look(self) -> None:
        collecting = gc.isenabled()
        gc.disable()  # a collection would free the program's tensors earlier than it does itself
        try:
            roles = Observation().roles
            self.observations += 1
            for moment in self.moments:
                moment.learn(roles, self.births, "later")
            if self.ordinal in self.wanted:
                self._begin(roles)
            self.before.append((self.ordinal, roles, {a: self.births.get(a, 0) for a in roles}))
            del self.before[:-WATCHED_BEFORE]
        finally:
            if collecting:
                gc.enable()

    def _begin(self, roles: dict) -> None:
        moment = Moment(self.ordinal, self.births)
        moment.learn(roles, self.births, "now")
        for ordinal, earlier, births in self.before:
            if self.ordinal - ordinal <= WATCHED_BEFORE:
                moment.learn(earlier, births, "before")
        for address, block in moment.blocks.items():
            block["site"] = self.sites.get(address, []) if block["born"] else []
        self.moments.append(moment)
        for address in self.inputs:
            self._tell_input(address)

    def note_input(self, tensor, name: str) -> None:
        """The program says that this tensor is a batch, labels, noise."""
        address = storage_address(tensor)
        if address:
            self.inputs[address] = self.births.get(address, 0), name
            self._tell_input(address)

    def _tell_input(self, address: int) -> None:
        born, name = self.inputs[address]
        for moment in self.moments:
            moment.learn({address: ("inputs", name)}, {address: born}, "told")
