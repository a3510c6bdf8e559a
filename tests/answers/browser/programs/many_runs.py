# SPDX-License-Identifier: Apache-2.0
"""Runs each program in a child of one process that has imported torch, which is most of the time that a small
program takes, and names its trace after it.

python many_runs.py FOLDER ARGUMENT: FOLDER gets NAME.mtrace of each; the argument is only there to be recorded."""

import ctypes
import os
import runpy
import sys
import traceback
from pathlib import Path

import torch._dynamo  # noqa: F401  (for the children: optimizers import it, which takes seconds)

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[2]
RANKS = 4

# name: (program, arguments, environment)
RUNS = {
    "small": (TESTS / "trace/training/programs/transformer_adamw.py", ["--steps", "4"], {}),
    "out_of_memory": (TESTS / "trace/training/programs/out_of_memory.py", [], {"MEMTRACE_SIM_MEMORY": str(2 << 30)}),
    "leak": (TESTS / "corpus/programs/leak_validation_outputs.py", ["--steps", "60"], {}),
    "in_pieces": (HERE / "in_pieces.py", [], {"MEMTRACE_SIM_MEMORY": str(880 << 20)}),
    "hostile": (HERE / "hostile_names.py", [], {}),
}
RUNS |= {
    f"rank{rank}": (HERE / "one_rank.py", [], {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS)})
    for rank in range(RANKS)
}


def child(program: Path, arguments: list, environment: dict) -> None:
    os.environ.update(environment)
    sys.argv = [str(program), *arguments]
    sys.path.insert(0, str(program.parent))
    try:
        runpy.run_path(str(program), run_name="__main__")
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).exit(0)  # C's exit: the trace is finished


def main(folder: Path) -> None:
    traces = Path(os.environ["MEMTRACE_OUTPUT"])
    for name, run in RUNS.items():
        pid = os.fork()
        if pid == 0:
            child(*run)
        os.waitpid(pid, 0)
        written, = traces.glob(f"*.{pid}.mtrace")
        written.rename(folder / f"{name}.mtrace")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
