# SPDX-License-Identifier: Apache-2.0
"""The command that pip puts on the PATH: becomes the memtrace program that came with the package."""

import os
import sys
from pathlib import Path

NATIVE = Path(__file__).resolve().parent / "native"


def main() -> None:
    program = NATIVE / "memtrace"
    try:
        os.execv(program, ["memtrace", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"memtrace: {program} cannot be run ({error.strerror}); the wheel is for Linux on x86-64: "
                 "install it there, or build memtrace from its sources with scripts/build")
