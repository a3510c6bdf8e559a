# SPDX-License-Identifier: Apache-2.0
"""Measured results as JSON files that people compare: one record a line."""

import json
import os

WIDTH = 320


def text(value, indent: str = "") -> str:
    """The value on one line where that has room, else each of its parts on lines of their own."""
    whole = json.dumps(value)
    if not isinstance(value, dict | list) or not value or len(indent) + len(whole) <= WIDTH and indent:
        return whole
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {text(part, inner)}" for key, part in value.items()]
    else:
        parts = [inner + text(part, inner) for part in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    return f"{ends[0]}\n" + ",\n".join(parts) + f"\n{indent}{ends[1]}"


def write(path, value, sort_keys: bool = False) -> None:
    if sort_keys:
        value = json.loads(json.dumps(value, sort_keys=True))
    # Others may be reading it.
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(text(value) + "\n")
    new.replace(path)
