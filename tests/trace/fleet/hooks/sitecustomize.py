# SPDX-License-Identifier: Apache-2.0
"""Brings the fault that MEMTRACE_TEST_FAULT names upon a writer (faults.py): only with this folder in PYTHONPATH.

half    what is written to the store so far is cut in half, and the writer stands still
whole   the same before the file gets its name
limit   from then on the kernel lets no file of this process grow beyond 8 KiB (ulimit -f)

A writer that stands still makes the file MEMTRACE_TEST_MARK, and waits to be killed."""

import builtins
import os
import resource
import time

_FAULT = os.environ.get("MEMTRACE_TEST_FAULT")
_open, _fsync, _replace = builtins.open, os.fsync, os.replace
_MARK = ".unfinished-"


def _stand_still():
    with _open(os.environ["MEMTRACE_TEST_MARK"], "w"):
        pass
    while True:
        time.sleep(60)


def _fsync_of_half(descriptor):
    if _MARK in os.readlink(f"/proc/self/fd/{descriptor}"):
        os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
        _fsync(descriptor)
        _stand_still()
    return _fsync(descriptor)


def _replace_never(source, target, **more):
    if _MARK in str(source):
        _stand_still()
    return _replace(source, target, **more)


def _open_within(name, *arguments, **more):
    made = _open(name, *arguments, **more)
    if _MARK in str(name):
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    return made


if _FAULT == "half":
    os.fsync = _fsync_of_half
elif _FAULT == "whole":
    os.replace = _replace_never
elif _FAULT == "limit":
    builtins.open = _open_within
