# SPDX-License-Identifier: Apache-2.0
"""The nature of each piece of GPU memory right now, found from inside the program without memtrace.

Everything is looked up among the objects that Python's garbage collector knows: modules,
optimizers, tensors, nodes of the autograd graph, checkpoint's frames.
"""

import gc

import torch
from torch.utils.checkpoint import _CheckpointFrame, _VersionWrapper

from kept_by_autograd import Walk, tensors_in
from storages import storage_addresses

# Where a storage has several roles, the first counts.
# `cached`: what a cache object of a library holds; it is `kv_cache` where autograd does not keep it
# as well, as it does in training. `kv_cache` itself is told by the program of its own caches.
ROLES = ["weights", "kv_cache", "buffers", "gradients", "optimizer_states", "inputs", "activations", "cached"]

_kinds: dict[type, str] = {}


def _is_library_cache(type_: type) -> bool:
    """A cache of keys and values, or one layer of it, of transformers."""
    return any(base.__module__ == "transformers.cache_utils" for base in type_.__mro__)


def _kind(type_: type) -> str:
    if type_ not in _kinds:
        _kinds[type_] = next(
            (name for name, base in (("tensor", torch.Tensor), ("module", torch.nn.Module),
                                     ("optimizer", torch.optim.Optimizer),
                                     ("checkpoint", _CheckpointFrame), ("kept", _VersionWrapper))
             if issubclass(type_, base)),
            "cache" if _is_library_cache(type_) else
            "node" if "next_functions" in dir(type_) else "")
    return _kinds[type_]


def _objects() -> dict[str, list]:
    found = {name: [] for name in ("tensor", "module", "optimizer", "checkpoint", "kept", "cache", "node")}
    everything = gc.get_objects()
    wanted = {type_ for type_ in set(map(type, everything)) if _kind(type_)}
    for item, type_ in zip(everything, map(type, everything)):
        if type_ in wanted:
            found[_kinds[type_]].append(item)
    return found


def _quantisation_constants(parameter, depth: int = 2):
    """The tensors that reading a quantised parameter needs: scales and code books that hang on it."""
    for value in list(getattr(parameter, "__dict__", {}).values()):
        yield from tensors_in(value)
        for part in (list(vars(value).values()) if depth and hasattr(value, "__dict__") else ()):
            yield from tensors_in(part)
            if hasattr(part, "__dict__") and not isinstance(part, torch.Tensor):
                yield from (one for inner in list(vars(part).values()) for one in tensors_in(inner))


class Observation:
    """`roles`: storage address -> (role, description)."""

    def __init__(self):
        self.roles: dict[int, tuple[str, str]] = {}
        with torch._C.DisableTorchFunctionSubclass():
            self._observe()

    def _say(self, role: str, tensor, what: str) -> None:
        for address in storage_addresses(tensor):
            known = self.roles.get(address)
            if known is None or ROLES.index(role) < ROLES.index(known[0]):
                self.roles[address] = role, what

    def _observe(self) -> None:
        objects = _objects()
        for module in objects["module"]:
            self._say_module(module)
        for optimizer in objects["optimizer"]:
            for state in list(optimizer.state.values()):
                for key, value in list(state.items()) if isinstance(state, dict) else ():
                    for tensor in tensors_in(value):
                        self._say("optimizer_states", tensor, f"{type(optimizer).__name__} {key}")
        walk = Walk()
        leaves = []
        for tensor in objects["tensor"]:
            if tensor.is_leaf:
                leaves.append(tensor)
            else:
                walk.from_node(tensor.grad_fn)
        for node in objects["node"]:
            walk.from_node(node)
        for tensor in walk.saved:
            self._say("activations", tensor, f"saved {tuple(tensor.shape)} {tensor.dtype}")
        for kept in objects["kept"]:
            for tensor in tensors_in(kept.val):
                self._say("activations", tensor, f"kept by a checkpointing policy {tuple(tensor.shape)}")
        for frame in objects["checkpoint"]:
            self._say_checkpoint(frame)
        for cache in objects["cache"]:
            for name, value in list(getattr(cache, "__dict__", {}).items()):
                for tensor in tensors_in(value):
                    self._say("cached", tensor, f"{type(cache).__name__}.{name}")
        self._say_leaves(leaves, walk.leaves, with_modules=any(
            role == "weights" for role, _ in self.roles.values()))

    def _say_module(self, module) -> None:
        kind = type(module).__name__
        for role, table in (("weights", "_parameters"), ("buffers", "_buffers")):
            for name, tensor in list((vars(module).get(table) or {}).items()):
                if isinstance(tensor, torch.Tensor):
                    self._say(role, tensor, f"{kind}.{name}")
                    for constant in _quantisation_constants(tensor) if role == "weights" else ():
                        self._say("weights", constant, f"{kind}.{name} quantisation constant")

        state = getattr(module, "state", None)  # bitsandbytes' 8-bit layers move their weights there
        if type(state).__name__ == "MatmulLtState":
            for name in ("CB", "SCB"):
                for tensor in tensors_in(getattr(state, name, None)):
                    self._say("weights", tensor, f"{kind}.state.{name}")

    def _say_checkpoint(self, frame) -> None:
        for recomputed in list(frame.recomputed.values()):
            for tensor in list(recomputed.values()):
                self._say("activations", tensor, f"recomputed {tuple(tensor.shape)}")
        for tensor in tensors_in(frame.recompute_fn):
            self._say("activations", tensor, f"kept to recompute {tuple(tensor.shape)}")

    def _say_leaves(self, held: list, in_graph: list, with_modules: bool) -> None:
        for leaf in held + in_graph:
            gradient = leaf.grad if leaf.requires_grad else None
            if gradient is not None:
                self._say("gradients", gradient, f"gradient {tuple(leaf.shape)}")
        if not with_modules:  # a program without modules: what it trains are its weights
            trained = [leaf for leaf in held if leaf.requires_grad and leaf.grad is not None]
            for leaf in trained + in_graph:
                self._say("weights", leaf, f"leaf {tuple(leaf.shape)}")
