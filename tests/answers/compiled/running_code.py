# SPDX-License-Identifier: Apache-2.0
"""Which line and which module of the program is at work: from Python's own frames."""

import gc
import os
import re
import sys

try:
    import torch
    TORCH = os.path.dirname(torch.__file__) + os.sep
except (ImportError, ValueError):  # outside of the simulator: to compare needs no torch
    TORCH = ""

TORCH_FOLDER = re.compile(r"/site-packages/torch/")
LAYERS = os.path.join(TORCH, "nn", "modules") + os.sep
STANDARD = os.path.dirname(os.__file__) + os.sep
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
OTHERS = os.path.join(os.path.dirname(HERE[:-1]), "attribution") + os.sep
GENERATED = re.compile(r"^\s*(?:\(?)(buf\d+)\b.* = ")
GENERATED_FOLDER = re.compile(r"/[a-z0-9]{2}/c[a-z0-9]{51}\.py$")
_lines: dict[str, list[str]] = {}


def is_ours(file: str) -> bool:
    return os.path.dirname(file) + os.sep in (HERE, OTHERS)


def is_library(file: str) -> bool:
    return (file.startswith("<") or bool(TORCH_FOLDER.search(file)) or is_ours(file)
            or file.startswith(STANDARD) and "site-packages" not in file)


def _module_names() -> dict[int, tuple]:
    """id of a module -> (type of its root, path in it)"""
    names = {}
    modules = gc_modules()
    children = {id(child) for one in modules for child in one._modules.values() if child is not None}
    for root in modules:
        if id(root) in children:
            continue
        inside = "module." if any(type(one).__name__ == "DistributedDataParallel" for one in (
            root, root._modules.get("_orig_mod"))) else ""
        for path, module in root.named_modules():
            path = clean(path)
            path = "" if path + "." == inside else path.removeprefix(inside)
            names.setdefault(id(module), (type(model_of(root)).__name__, path))
    return names


def gc_modules() -> list:
    """The program's modules, without the graphs that Dynamo makes of them."""
    return [one for one in gc.get_objects()
            if issubclass(type(one), torch.nn.Module) and not issubclass(type(one), torch.fx.GraphModule)]


def clean(path: str) -> str:
    """Without what torch.compile puts around a module."""
    return ".".join(part for part in path.split(".") if part != "_orig_mod")


def model_of(root):
    """The model, without torch.compile and DistributedDataParallel around it."""
    while "_orig_mod" in root._modules:
        root = root._modules["_orig_mod"]
    return root._modules["module"] if type(root).__name__ == "DistributedDataParallel" else root


class Names:
    """Modules by identity; looked up anew when an unknown module is asked for."""

    def __init__(self):
        self.known: dict[int, tuple] = {}

    def of(self, module) -> tuple | None:
        if id(module) not in self.known:
            self.known = _module_names()
        return self.known.get(id(module))


def frames(start=None):
    frame = start or sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def program_lines(start) -> list:
    found = [[one.f_code.co_filename, one.f_lineno] for one in frames(start)
             if not is_library(one.f_code.co_filename)]
    return [[os.path.abspath(file), line] for file, line in found[:6]]


def compiled_frame(start):
    """The frame whose code torch.compile has replaced: the innermost of the program or of a layer."""
    for one in frames(start):
        file = one.f_code.co_filename
        if not is_library(file) or file.startswith(LAYERS) and not file.endswith("/module.py"):
            return one
    return None


def running_module(start):
    for one in frames(start):
        file = one.f_code.co_filename
        if file.startswith(TORCH) and not file.startswith(LAYERS) or is_ours(file):
            continue
        module = one.f_locals.get("self")
        if isinstance(module, torch.fx.GraphModule):
            continue
        if isinstance(module, torch.nn.Module) and one.f_code.co_name not in ("_apply", "to", "cuda", "__init__"):
            return module
    return None


def generated_buffer(start, known: dict):
    """(file, buffer) where a line of a wrapper in `known` allocates."""
    for depth, one in enumerate(frames(start)):
        name = os.path.basename(one.f_code.co_filename)
        if name in known:
            path = one.f_code.co_filename
            if path not in _lines:
                with open(path) as source:
                    _lines[path] = source.read().splitlines()
            made = GENERATED.match(_lines[path][one.f_lineno - 1])
            return (name, made.group(1) if made else None)
        if depth > 25:
            break
    return None


def resolve(expression: str, frame, names: Names) -> tuple | None:
    """(root, path) of what Dynamo calls L['self'].blocks.0 in this frame."""
    base, _, path = expression.partition("].")
    if path or base.endswith("]"):
        base = base if base.endswith("]") else base + "]"
    else:
        base, _, path = expression.partition(".")
    try:
        found = eval(base, {"L": frame.f_locals, "G": frame.f_globals})  # Dynamo's own names
        for part in path.split(".") if path else ():
            found = found[int(part)] if part.isdigit() and not hasattr(found, "_modules") else (
                found._modules[part] if part in getattr(found, "_modules", {}) else getattr(found, part))
    except (NameError, KeyError, AttributeError, SyntaxError, IndexError, TypeError):
        return None
    return names.of(found) if isinstance(found, torch.nn.Module) else None
