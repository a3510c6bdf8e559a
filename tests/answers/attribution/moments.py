# SPDX-License-Identifier: Apache-2.0
"""Follows PyTorch's allocations from inside the program and observes at chosen ones.

A moment is named by its ordinal: the number of allocations until then. Programs here are
deterministic, so that a first run finds the ordinals and a second observes there.

A block's role is what it is at any time of its life: a gradient that is being computed will be
`.grad`, and what a running operation holds is seen when it has returned to Python; `seen` says
when. So roles are looked for at the moment, densely around it, and sparsely through the whole run.
One role ends earlier: an activation that the program still holds is none after its backward pass.

Between observations only numbers and texts are kept: a container more would make Python collect
garbage earlier than the program does alone, and garbage may hold GPU memory.
"""

import gc
import sys
import traceback

import torch

from observe import ROLES, Observation

DENSELY = 12  # allocations before and after a moment, each of which is observed
SPARSELY = 40  # observations between the start and a moment
GROWTH = 1.15  # after a moment: ever more seldom


LIVES = 1 << 40  # more than a program's allocations


def block_key(address: int, born: int) -> int:
    return address * LIVES + born


def allocated_bytes() -> int:
    return torch._C._cuda_memoryStats(torch.cuda.current_device())["allocated_bytes"]["all"]["current"]


def call_site(depth: int = 6) -> str:
    """The Python frames that allocate, innermost first; none on autograd's threads."""
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_filename in (__file__, torch._utils.__file__):
        frame = frame.f_back
    sites = []
    while frame is not None and len(sites) < depth:
        code = frame.f_code
        sites.append(f"{'/'.join(code.co_filename.split('/')[-2:])}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return " < ".join(sites)


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
    """The blocks that are allocated at one moment, and the role that each is seen in."""

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

    def learn(self, address: int, born: int, role: str, what: str, seen: str) -> None:
        block = self.blocks.get(address)
        if block is None or born != block["born"]:
            return
        if block["role"] == "rest" or ROLES.index(role) < ROLES.index(block["role"]):
            block.update(role=role, seen=seen, what=what)

    def unexplained(self, births: dict[int, int]) -> bool:
        return any(block["role"] == "rest" and births.get(address, 0) == block["born"]
                   for address, block in self.blocks.items())


class Backward:
    """Whether a backward pass runs, and when autograd's graph was last looked at before it began."""

    def __init__(self):
        self.runs = False
        self.looked_before = 0

    def update(self, last_look: int) -> None:
        runs = torch._C._current_graph_task_id() != -1
        if runs and not self.runs:
            self.looked_before = last_look
        self.runs = runs


class Observer:
    """Collects the truth at the given ordinals."""

    def __init__(self, ordinals: list[int]):
        self.wanted = sorted(ordinals)
        self.ordinal = 0
        self.last_look = 0
        self.next_look = 0
        self.backward = Backward()
        self.births: dict[int, int] = {}
        self.sites: dict[int, str] = {}
        self.moments: list[Moment] = []
        self.history: dict[int, str] = {}  # block (see block_key) -> when last seen, role, what
        self.told: dict[int, str] = {}  # the same, by the program
        self.observations = 0
        self.failures: list[str] = []

    def __call__(self, address: int) -> None:
        self.ordinal += 1
        self.backward.update(self.last_look)
        self.births[address] = self.ordinal
        self.sites[address] = call_site()
        if self._due():
            try:
                self._look()
            except Exception:  # torch would only log it; the run is worthless then
                self.failures.append(traceback.format_exc())

    def after_step(self) -> None:
        """An optimizer's step has ended: now its state holds what it has made."""
        if any(moment.unexplained(self.births) for moment in self.moments):
            self._look()

    def _due(self) -> bool:
        if any(abs(self.ordinal - wanted) <= DENSELY for wanted in self.wanted):
            return True
        if self.ordinal < self.next_look:
            return False
        if self.ordinal < self.wanted[-1]:
            self.next_look = self.ordinal + max(1, self.wanted[-1] // SPARSELY)
            return True
        self.next_look = self.ordinal + max(1, int((self.ordinal - self.wanted[-1]) * (GROWTH - 1)))
        return any(moment.unexplained(self.births) for moment in self.moments)

    def _look(self) -> None:
        collecting = gc.isenabled()
        gc.disable()  # a collection would free the program's tensors earlier than it does itself
        try:
            roles = Observation().roles
            self.observations += 1
            self.last_look = self.ordinal
            seen = [(address, self.births.get(address, 0), *role) for address, role in roles.items()]
            for moment in self.moments:
                for one in seen:
                    moment.learn(*one, "later")
            if self.ordinal in self.wanted and all(m.ordinal != self.ordinal for m in self.moments):
                self._begin(seen)
            elif self.ordinal < self.wanted[-1]:
                self._remember(seen)
        finally:
            if collecting:
                gc.enable()

    def _remember(self, seen: list) -> None:
        for address, born, role, what in seen:
            block = block_key(address, born)
            known = self.history.get(block)
            if known is None or ROLES.index(role) <= ROLES.index(known.split(" ", 2)[1]):
                self.history[block] = f"{self.ordinal} {role} {what}"

    def _begin(self, seen: list) -> None:
        moment = Moment(self.ordinal, self.births)
        for one in seen:
            moment.learn(*one, "now")
        for known, seen_when in ((self.history, "before"), (self.told, "told")):
            for block, words in known.items():
                when, role, what = words.split(" ", 2)
                kept = self.backward.runs and int(when) >= self.backward.looked_before
                if role != "activations" or kept:
                    moment.learn(*divmod(block, LIVES), role, what, seen_when)
        for address, block in moment.blocks.items():
            block["site"] = self.sites.get(address, "") if block["born"] else ""
        self.moments.append(moment)

    def tell(self, address: int, role: str, name: str) -> None:
        """The program says that this block is a batch, labels, noise, a communication bucket."""
        if address:
            born = self.births.get(address, 0)
            self.told[block_key(address, born)] = f"{self.ordinal} {role} {name}"
            for moment in self.moments:
                moment.learn(address, born, role, name, "told")
