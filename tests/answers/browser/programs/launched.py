# SPDX-License-Identifier: Apache-2.0
"""Runs a program below frames of its own and of runpy, as a launcher does: launched.py PROGRAM [ARGUMENT...]"""

import runpy
import sys
from pathlib import Path


def launch(program: str) -> None:
    sys.path[0] = str(Path(program).parent)
    runpy.run_path(program, run_name="__main__")


def main() -> None:
    del sys.argv[0]
    launch(sys.argv[0])


if __name__ == "__main__":
    main()
