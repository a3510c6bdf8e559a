# SPDX-License-Identifier: Apache-2.0
"""Checks what libmemtrace.so needs and exports.

It is preloaded into every process of a training job: whatever it needs must be there in each of
them, and whatever it exports replaces the program's own.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

# libm, libpthread and libdl are parts of libc, as separate files before glibc 2.34.
ALLOWED_NEEDS = re.compile(r"(libgcc_s|libc|libm|libpthread|libdl|ld-linux[-\w]*)\.so\.\d+")
ROW = re.compile(
    r"^(?:(?:ALLOCATES|RELEASES|NOTES|ADDS_NODE|HANDS_OVER|OTHER)\(\w+, |API\()(\w+)",
    re.MULTILINE,
)


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(library: Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "--dynamic", "-W", str(library)))


def exported(library: Path) -> set[str]:
    lines = output_of("nm", "--dynamic", "--defined-only", str(library)).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line}


def guards(library: Path) -> list[str]:
    """Those of our statics that are initialised when they are first needed."""
    return re.findall(r"guard variable for memtrace::.*", output_of("nm", "-C", str(library)))


def problems(library: Path, listed: set[str]) -> list[str]:
    found = [
        f"needs {name}, which a traced process may lack"
        for name in needed(library)
        if not ALLOWED_NEEDS.fullmatch(name)
    ]
    names = exported(library)
    found += [
        f"exports {name}, which neither hooks.def nor api.def names"
        for name in sorted(names - listed)
    ]
    found += [f"has a {guard}, which stays locked in a child that is forked while another thread is inside"
              for guard in guards(library)]
    found += [f"does not export {name}, which it should" for name in sorted(listed - names)]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--listed", type=Path, required=True, nargs="+", help="hooks.def api.def")
    parser.add_argument("--refused", help="the library is wrong on purpose: what is to be said of it")
    options = parser.parse_args()
    listed: set[str] = set()
    for table in options.listed:
        rows = ROW.findall(table.read_text())
        if not rows:
            print(f"{table}: no rows found")
            return 1
        listed.update(rows)
    found = problems(options.library, listed)
    for problem in found:
        print(f"{options.library.name} {problem}")
    if options.refused:
        return 0 if any(options.refused in problem for problem in found) else 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
