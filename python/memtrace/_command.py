# SPDX-License-Identifier: Apache-2.0
"""The command that pip puts on the PATH: becomes the memtrace program that came with the package."""

import os
import sys
from pathlib import Path

NATIVE = Path(__file__).resolve().parent / "native"


def main() -> None:
    refuse_the_other_package()
    program = native_program()
    if sys.argv[1:2] == ["kernel"]:
        from memtrace import _kernel

        return _kernel.main(sys.argv[2:], program)
    if sys.argv[1:2] == ["attach"]:
        from memtrace import _attach

        return _attach.main(sys.argv[2:], program)
    # This interpreter writes the files that need Python (export --format parquet).
    os.environ.setdefault("MEMTRACE_PYTHON", sys.executable)
    try:
        os.execv(program, ["memtrace", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"memtrace: {program} cannot be run ({error.strerror}); the wheel is for Linux on x86-64: "
                 "install it there, or build memtrace from its sources with scripts/build")


def refuse_the_other_package() -> None:
    """The package memtrace of PyPI, another project, puts its files into the same folder as ours (gpu-memtrace):
    with both, either may run the other's code."""
    others = sorted(Path(__file__).resolve().parents[1].glob("memtrace-*.dist-info"))
    if others:
        sys.exit(f"memtrace: {others[0]} belongs to a package called memtrace, which shares its folder with this one, "
                 "gpu-memtrace: pip uninstall memtrace gpu-memtrace, then install gpu-memtrace again")


def native_program() -> Path:
    """That of the package; in a source tree, where MEMTRACE_BUILD or scripts/build put it."""
    packed = NATIVE / "memtrace"
    if packed.exists():
        return packed
    root = Path(__file__).resolve().parents[2]
    for folder in (os.environ.get("MEMTRACE_BUILD"), root / "build" / "release"):
        if folder and (Path(folder) / "memtrace").exists():
            return (Path(folder) / "memtrace").resolve()
    return packed
