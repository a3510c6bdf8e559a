# SPDX-License-Identifier: Apache-2.0
"""Which tensors autograd keeps for a backward pass right now: a walk over the graph.

Only `_raw_saved_*` is read: `_saved_*` would call the unpack hooks, and checkpoint's recompute.
A node that has run its backward has let go of its tensors: it shows None there. What a hook packed
away is what it returned; checkpoint keeps what it recomputed beside the graph (see observe.py).
"""

import functools
import types

import torch

_saved_names: dict[type, list[str]] = {}


def _parts(value) -> list:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, functools.partial):
        return [*value.args, *value.keywords.values()]
    if isinstance(value, types.FunctionType):
        return [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
    return []


def tensors_in(value, depth: int = 4):
    """The tensors that a value holds: itself, in containers, or as the arguments of a call to come."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth:
        for part in _parts(value):
            yield from tensors_in(part, depth - 1)


def _names(node) -> list[str]:
    kind = type(node)
    if kind not in _saved_names:
        _saved_names[kind] = [name for name in dir(kind) if name.startswith("_raw_saved_")]
    return _saved_names[kind]


def _saved_by(node):
    for name in _names(node):
        try:
            saved = getattr(node, name)
        except (RuntimeError, AttributeError):  # released
            continue
        for one in saved if isinstance(saved, tuple) else (saved,):
            if one is not None:
                yield from tensors_in(one.data)
    if isinstance(node, torch._C._FunctionBase):  # a custom Function may also keep tensors itself
        for value in list(vars(node).values()):
            yield from tensors_in(value)


class Walk:
    """Visits each node once; `saved` are the tensors kept, `leaves` what receives gradients."""

    def __init__(self):
        self.visited = {}  # id -> node: held, so that no id is used twice
        self.saved = []
        self.leaves = []

    def from_node(self, root) -> None:
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node is None or id(node) in self.visited:
                continue
            self.visited[id(node)] = node
            variable = getattr(node, "variable", None)
            if variable is not None:
                self.leaves.append(variable)
            self.saved += _saved_by(node)
            waiting += [following for following, _ in node.next_functions]
