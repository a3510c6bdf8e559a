# SPDX-License-Identifier: Apache-2.0
"""python -m memtrace._fit_call TARGET --batch N [--length N]: calls a function with a batch size.

TARGET is module:function, file.py:function, or pickle:FILE, a function that memtrace.fit wrote there.
memtrace.fit runs it as a program of its own, in a dry run for each value.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import pickle
import sys
from pathlib import Path
from typing import Any, Callable


def load(target: str) -> Callable[..., Any]:
    place, _, name = target.rpartition(":")
    if place == "pickle":
        return pickle.loads(Path(name).read_bytes())
    if not place or not name:
        raise SystemExit(f"memtrace: {target} is no module:function")
    if place.endswith(".py"):
        path = Path(place).resolve()
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.exists():
            raise SystemExit(f"memtrace: {place} is no Python file")
        found: Any = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = found
        spec.loader.exec_module(found)
    else:
        found = importlib.import_module(place)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--length", type=int)
    chosen = parser.parse_args()
    call = load(chosen.target)
    if chosen.length is None:
        call(chosen.batch)
    else:
        call(chosen.batch, chosen.length)


if __name__ == "__main__":
    main()
