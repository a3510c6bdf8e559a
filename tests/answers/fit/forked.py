# SPDX-License-Identifier: Apache-2.0
"""Runs one program with one batch after another, each in a process forked from this one, which has only imported.

    memtrace dry-run --bare --gpu GPU -- python forked.py PROGRAM FIRST BEYOND

Importing is most of a short dry run; CUDA is first touched in the forked process. Prints a letter a batch, at
once: `f` it fits, `o` it ended by torch.OutOfMemoryError. Ends after BEYOND + 1 of these in a row.
"""

import importlib
import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path

import torch

import cells

REFUSED = 77


def import_untouched(*modules: str) -> None:
    """Imports without a look at the GPU, which parts of transformers and torchao would take while they are imported."""
    triton = importlib.import_module("torch.utils._triton")
    asked = triton.has_triton, torch.cuda.is_available
    triton.has_triton = torch.cuda.is_available = lambda: False
    for each in modules:
        importlib.import_module(each)
    triton.has_triton, torch.cuda.is_available = asked
    assert not torch.cuda.is_initialized()


def in_child(program: cells.Program, batch: int) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        command, variables = program.with_batch(sys.executable, Path(scratch), batch)
        os.environ.update(variables)
        sys.argv = command[1:]
        sys.path.insert(0, str(cells.PROGRAMS))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            runpy.run_path(command[1], run_name="__main__")
        except torch.OutOfMemoryError:
            return REFUSED
        except BaseException:  # noqa: BLE001  it ends here, and is told
            traceback.print_exc()
            return 1
    return 0


def main() -> None:
    program, batch, beyond = cells.named(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    import_untouched("torch._dynamo", *program.imports)
    refused = 0
    while refused <= beyond:
        child = os.fork()
        if not child:
            os._exit(in_child(program, batch))
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if ended not in (0, REFUSED):
            sys.exit(f"{program.name} with {batch}: exit status {ended}")
        refused = refused + 1 if ended else 0
        print("o" if ended else "f", end="", flush=True)
        batch += 1


if __name__ == "__main__":
    main()
