# SPDX-License-Identifier: Apache-2.0
"""What scripts that write a RESULTS.md from many programs share: their options, and a run of each case."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path


def options(into: Path) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=into)
    parser.add_argument("--only", nargs="*", help="these programs, by their names in the table")
    return parser.parse_args()


def outcomes(cases: list, only: list[str] | None, run: Callable, failures: list[str]) -> Iterator[tuple]:
    """Each case with what `run(case, folder)` returned. One that fails must not hide the others: it is a failure."""
    for case in cases:
        if only and case.name not in only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = run(case, Path(folder))
            except Exception as error:
                failures.append(f"{case.name}: {str(error)[-1500:]}")
                print(f"{case.name}: failed\n{error}", file=sys.stderr)
                continue
        yield case, found
