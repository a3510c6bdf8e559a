# SPDX-License-Identifier: Apache-2.0
"""Which traces are one run, and the same run again: by what stands in them, not by where they lie."""

from __future__ import annotations

import datetime
import hashlib
import os
import struct
from pathlib import Path
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from memtrace.fleet.errors import FleetError

_MAGIC = b"MEMTRACE"
# The part of a trace's header (trace_format.h, file_header) that never changes: the process, and when it
# began to the nanosecond by two clocks and by the processor's ticks.
_HEADER_BYTES = 84
_STARTED_NS = struct.Struct("<48xQ")
_TRAILER_BYTES, _TRAILER_MAGIC = 40, b"MTEN"
_DIGITS = 16
_SNAPSHOTS = (".pickle", ".pkl", ".json", ".json.gz")


class Run(NamedTuple):
    """Traces that belong together."""

    traces: List[Path]
    processes: List[str]  # the identity of each
    run_id: str
    date: Optional[str]  # UTC day on which it began; None: known once it is read
    refused: Tuple[str, ...] = ()  # sentences on traces that were given and cannot be identified


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def of_trace(path: Path) -> str:
    """The same for the same recording, also while it grows. FleetError: it cannot be read, or is no trace."""
    try:
        with open(path, "rb") as trace:
            head = trace.read(_HEADER_BYTES)
            if head.startswith(_MAGIC) and len(head) == _HEADER_BYTES:
                return _digest(head)
            if path.name.endswith(_SNAPSHOTS):  # a snapshot of PyTorch's, or a profiler's trace
                return _digest(head + trace.read())
    except OSError as error:
        raise FleetError(f"{path}: cannot be read: {error.strerror}") from None
    raise FleetError(f"{path}: is no trace of memtrace, or cut off within its first {_HEADER_BYTES} bytes")


def started_ns(path: Path) -> Optional[int]:
    """Since 1970; None: it is no trace of memtrace's own."""
    with open(path, "rb") as trace:
        head = trace.read(_HEADER_BYTES)
    return _STARTED_NS.unpack_from(head)[0] if head.startswith(_MAGIC) and len(head) == _HEADER_BYTES else None


def day_of(since_1970_ns: int) -> str:
    """UTC, as 2026-11-24."""
    return datetime.datetime.fromtimestamp(since_1970_ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%d")


def is_finished(traces: Iterable[Path]) -> bool:
    """Every trace has its trailer: it cannot grow any more."""
    for trace in traces:
        with open(trace, "rb") as held:
            held.seek(max(0, held.seek(0, os.SEEK_END) - _TRAILER_BYTES))
            if not held.read().startswith(_TRAILER_MAGIC):
                return False
    return True


def of_run(processes: Sequence[str]) -> str:
    return _digest("\n".join(sorted(processes)).encode())


def traces_in(folder: Path) -> List[Path]:
    """The traces in the folder itself; those of folders in it are other runs."""
    return sorted(one for one in folder.iterdir() if one.name.endswith(".mtrace") and one.is_file())


def groups(path: str) -> List[List[Path]]:
    """The traces of each run that a path names: a file is a run; so is a folder with traces; of a folder with neither,
    each folder below it that has some. FleetError: there are none."""
    here = Path(path)
    if here.is_file():
        return [[here]]
    if not here.is_dir():
        raise FleetError(f"{path}: is not there; name a trace (*.mtrace), a folder with the traces of one run, or a "
                         "folder of such folders")
    try:
        own = traces_in(here)
        below = [traces_in(Path(folder)) for folder, _, _ in sorted(os.walk(here)) if Path(folder) != here]
    except OSError as error:
        raise FleetError(f"{path}: cannot be read: {error.strerror}") from None
    found = [traces for traces in [own, *below] if traces]
    if not found:
        raise FleetError(f"{path}: holds no traces (*.mtrace), nor do the folders in it")
    return found


def run_of(traces: Sequence[Path]) -> Run:
    """The run of those traces that can be identified. FleetError: none can."""
    found: Dict[str, Path] = {}  # a trace that was copied is one process
    refused = []
    for trace in traces:
        try:
            found[of_trace(trace)] = trace
        except FleetError as error:
            refused.append(str(error))
    if not found:
        raise FleetError(refused[0])
    began = [started_ns(trace) for trace in found.values()]
    date = None if None in began else day_of(min(one for one in began if one is not None))
    return Run(list(found.values()), list(found), of_run(list(found)), date,
               tuple(f"{sentence}, and is missing in its run" for sentence in refused))
