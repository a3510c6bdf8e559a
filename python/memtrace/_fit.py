# SPDX-License-Identifier: Apache-2.0
"""memtrace.fit: the largest batch that fits each GPU, of a function instead of a script."""

from __future__ import annotations

import html
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from memtrace import _tool


class Fit(List[Any]):
    """The rows of memtrace-fit/1, a cell each: row.gpu, row.sequence, row.largest_batch, …"""

    def __init__(self, document: dict) -> None:
        super().__init__(SimpleNamespace(**row) for row in document["rows"])
        self.document = document

    def batch(self, gpu: str, sequence: Optional[int] = None) -> int:
        """The largest batch there; 0: none fits. Raises KeyError where there is no such cell, or it is not known."""
        for row in self:
            if row.gpu == gpu and row.sequence == sequence and row.verified:
                return row.largest_batch
        raise KeyError((gpu, sequence))

    def __repr__(self) -> str:
        return "\n".join(f"{_name(row)}: {_batch(row)}" for row in self)

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{html.escape(_name(row))}</th><td>{_batch(row)}</td></tr>" for row in self)
        return f"<table><tr><th>GPU</th><th>largest batch</th></tr>{rows}</table>"


def _name(row: Any) -> str:
    return row.gpu if row.sequence is None else f"{row.gpu}, length {row.sequence}"


def _batch(row: Any) -> str:
    if not row.verified:
        return f"not verified ({row.why_not_verified})"
    return str(row.largest_batch) if row.largest_batch else "none fits"


def _importable(call: Callable[..., Any]) -> Optional[str]:
    """module:function, where a new process finds the same function by that name."""
    module, name = getattr(call, "__module__", None), getattr(call, "__qualname__", "")
    if not module or "<" in name:
        return None
    if module == "__main__":
        path = getattr(sys.modules["__main__"], "__file__", None)
        return f"{os.path.abspath(path)}:{name}" if path and path.endswith(".py") else None
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return f"{module}:{name}" if found is call else None


def _target(what: Union[str, Callable[..., Any]], folder: Path) -> str:
    if isinstance(what, str):
        if ":" not in what:
            raise ValueError(f"{what!r}: write module:function, or file.py:function")
        return what
    if not callable(what):
        raise TypeError(f"a function or 'module:function' is needed, not {type(what).__name__}")
    by_name = _importable(what)
    if by_name:
        return by_name
    try:
        import cloudpickle
    except ImportError:
        raise ValueError("this function cannot be found by a name in a new process, as one of a notebook cannot; "
                         "install cloudpickle, or put it into a module and pass 'module:function'") from None
    place = folder / "function.pickle"
    place.write_bytes(cloudpickle.dumps(what))
    return f"pickle:{place}"


def run(what: Union[str, Callable[..., Any]], gpus: Union[str, Sequence[str]], *,
        lengths: Optional[Sequence[int]] = None, max_batch: Optional[int] = None, multiple: Optional[int] = None,
        budget: Optional[str] = None, jobs: Optional[int] = None, options: Sequence[str] = ()) -> Fit:
    named: Tuple[str, ...] = (gpus,) if isinstance(gpus, str) else tuple(gpus)
    with tempfile.TemporaryDirectory(prefix="memtrace-fit-") as place:
        folder = Path(place)
        written = folder / "fit.json"
        command = [str(_tool.find()), "fit", "--gpu", ",".join(named), "--batch", "--batch {}", "--json",
                   str(written)]
        if lengths:
            command += ["--sequence", "--length {}", "--sequences", ",".join(map(str, lengths))]
        for option, value in (("--max-batch", max_batch), ("--multiple", multiple), ("--budget", budget),
                              ("--jobs", jobs)):
            if value is not None:
                command += [option, str(value)]
        command += [*options, "--", sys.executable, "-m", "memtrace._fit_call", _target(what, folder), "--batch", "1"]
        environment = _tool.environment()
        # A new process finds what this one does, memtrace itself too.
        paths = [str(Path(__file__).resolve().parents[1]), *(one or os.getcwd() for one in sys.path)]
        environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False)
        if not written.exists():
            raise _tool.ToolFailed(_tool._sentence(done.stderr))
        document = json.loads(written.read_text())
    if document["rows"] and not any(row["verified"] for row in document["rows"]):
        raise _tool.ToolFailed(document["rows"][0]["why_not_verified"] + "\n" + done.stderr[-2000:])
    return Fit(document)
