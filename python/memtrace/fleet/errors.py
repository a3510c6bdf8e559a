# SPDX-License-Identifier: Apache-2.0
"""Failures, each in one sentence that names the remedy; and the packages that this needs."""

from __future__ import annotations

import importlib
import sys
from typing import Any

# module -> what to install
_FROM = {"duckdb": "gpu-memtrace[fleet]", "pyarrow": "gpu-memtrace[fleet]", "pyarrow.parquet": "gpu-memtrace[fleet]",
         "fsspec": "gpu-memtrace[fleet]", "fsspec.core": "gpu-memtrace[fleet]", "pyspark.sql": "gpu-memtrace[spark]"}


class FleetError(Exception):
    """The message is for the user."""


class StoreError(FleetError):
    """The store could not be reached or written: the same may work later."""


def needed(module: str) -> Any:
    """The module; FleetError where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise FleetError(f"memtrace fleet needs the package {module.split('.')[0]}, which {sys.executable} has not "
                         f"({error}): pip install '{_FROM[module]}'") from None


def say(sentence: str) -> None:
    print(f"memtrace: {sentence}", file=sys.stderr, flush=True)
