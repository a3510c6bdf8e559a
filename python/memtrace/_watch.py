# SPDX-License-Identifier: Apache-2.0
"""The watch of libmemtrace.so: what this process allocates of GPU memory from a moment on."""

from __future__ import annotations

import ctypes
import os

import memtrace

_MOST_DEVICES = 128
_Bytes = ctypes.c_uint64 * _MOST_DEVICES


def _find_library():
    """The functions of the preloaded library, or None."""
    if not memtrace.is_active():
        return None
    try:
        library = ctypes.PyDLL(None)
        library.memtrace_watch_begin.restype = ctypes.c_int
        library.memtrace_watch_read.restype = ctypes.c_int
        library.memtrace_watch_read.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint]
        library.memtrace_watch_end.restype = None
    except (OSError, AttributeError):  # another version of the library
        return None
    return library


_library = _find_library()
_watching_pid = None


def is_there() -> bool:
    return _library is not None


def begin() -> bool:
    """False where nothing is recorded, or where another watch is under way."""
    global _watching_pid
    if _library is None or _watching_pid == os.getpid():
        return False
    if not _library.memtrace_watch_begin():
        return False
    _watching_pid = os.getpid()
    return True


def read() -> list[tuple[int, int]] | None:
    """Bytes (peak, still there) on each device; None where the library cannot tell."""
    now, peak = _Bytes(), _Bytes()
    count = _library.memtrace_watch_read(now, peak, _MOST_DEVICES)
    return None if count < 0 else list(zip(peak[:count], now[:count]))


def end() -> None:
    global _watching_pid
    _watching_pid = None
    _library.memtrace_watch_end()
