# SPDX-License-Identifier: Apache-2.0
"""The events of the recording of this process, as far as it is."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from memtrace._command import NATIVE


def find_command() -> Path | None:
    """The memtrace command: in the package, or beside the library that is preloaded."""
    beside = [Path(library).parent for library in os.environ.get("LD_PRELOAD", "").replace(" ", ":").split(":")
              if library.endswith("libmemtrace.so")]
    found = (folder / "memtrace" for folder in [*beside, NATIVE])
    return next((path for path in found if os.access(path, os.X_OK)), None)


def find_trace() -> Path | None:
    folder = Path(os.environ.get("MEMTRACE_OUTPUT") or ".")
    made = [path for path in folder.glob(f"*.{os.getpid()}.mtrace") if path.is_file()]
    return max(made, key=lambda path: path.stat().st_mtime, default=None)


def events_of_this_process():
    """Dictionaries as `memtrace dump` prints them: phases, and what changes what is allocated."""
    command, trace = find_command(), find_trace()
    if command is None or trace is None:
        return
    clean = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    try:
        process = subprocess.Popen([str(command), "dump", str(trace)], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=clean,
                                   encoding="utf-8", errors="replace")
    except OSError:
        return
    with process:
        try:
            for line in process.stdout:
                if '"kind":"phase"' in line or '"block":' in line:
                    yield json.loads(line)
        except ValueError:  # not what this version of the command prints
            return
        finally:
            process.kill()
