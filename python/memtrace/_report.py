# SPDX-License-Identifier: Apache-2.0
"""A recording's report as an object, by the command `memtrace report`."""

from __future__ import annotations

import dataclasses
import functools
import html
import json
import os
import tempfile
import typing
from pathlib import Path
from typing import Any, Dict, List, Sequence

from memtrace import _model, _tool


class Report(_model.Report):
    """The report: the names of its JSON Schema as attributes. str() is the text for people."""

    _content: Dict[str, Any]
    _traces: List[str]

    def as_dict(self) -> Dict[str, Any]:
        """The whole as `memtrace report --json` writes it. Not to be changed."""
        return self._content

    def __str__(self) -> str:
        return _tool.run(["report", *self._traces]).stdout

    def __repr__(self) -> str:
        return f"<memtrace.Report: {self.headline.text}>"

    def _repr_html_(self) -> str:
        return f"<p><b>{html.escape(self.headline.text)}</b></p>"


@functools.lru_cache(maxsize=None)
def _types_of(kind: type) -> Dict[str, Any]:
    return typing.get_type_hints(kind)


def _made(kind: Any, value: Any) -> Any:
    """`value`, out of JSON, as the type that the model names. What it does not name is left out."""
    if value is None or kind is Any:
        return value
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union:
        return _made(inner[0], value)
    if origin is list:
        return [_made(inner[0], one) for one in value]
    if origin is dict:
        return {name: _made(inner[1], one) for name, one in value.items()}
    if not dataclasses.is_dataclass(kind):
        return value
    types = _types_of(kind)
    return kind(**{field.name: _made(types[field.name], value.get(field.name.rstrip("_")))
                   for field in dataclasses.fields(kind)})


def of(traces: Sequence[object]) -> Report:
    """The report on these traces, or on those in a directory. Raises FileNotFoundError and ToolFailed."""
    paths = [str(trace) for trace in traces]
    for path in paths:
        if not os.path.exists(path):
            raise FileNotFoundError(f"{path} is not there; name a trace (*.mtrace) or the directory with them")
    with tempfile.TemporaryDirectory(prefix="memtrace-") as folder:
        written = Path(folder) / "report.json"
        _tool.run(["report", *paths, "--json", written])
        content = json.loads(written.read_text(encoding="utf-8"))
    made = _made(Report, content)
    object.__setattr__(made, "_content", content)
    object.__setattr__(made, "_traces", paths)
    return made
