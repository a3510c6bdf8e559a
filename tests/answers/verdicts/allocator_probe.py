# SPDX-License-Identifier: Apache-2.0
"""Notes what PyTorch's allocator says is in use at the beginning of each step, and from which of the program's lines.
Nothing of memtrace takes part.

As a program of its own it imports torch once, and runs each program of its input in a fork, two at a time:
lines of JSON, [program, steps, folder to note in]. It ends with 1 if one of them did.
"""

import json
import os
import runpy
import sys
import traceback
from collections import Counter
from pathlib import Path

import torch

recording = False


def by_line(name: str) -> Counter:
    """Bytes in use by the innermost line in the file of this name; line 0 has the rest."""
    lines = Counter()
    for segment in torch.cuda.memory._snapshot()["segments"]:
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                own = (frame["line"] for frame in block["frames"] if Path(frame["filename"]).name == name)
                lines[next(own, 0)] += block["size"]
    return lines


def sample() -> None:
    """A program calls it at the beginning of each step."""
    global recording
    if not recording:
        torch.cuda.memory._record_memory_history(context="alloc", stacks="python")
        recording = True
    caller = Path(sys._getframe(1).f_code.co_filename)
    said = {"allocated": torch.cuda.memory_allocated(), "by_line": by_line(caller.name)}
    with open(Path(os.environ["ALLOCATOR_SAYS"]) / str(os.getpid()), "a") as file:
        file.write(json.dumps(said) + "\n")


def run(program: str, steps: int, folder: str) -> int:
    """In a fork."""
    os.environ["ALLOCATOR_SAYS"] = folder
    sys.argv = [program, "--steps", str(steps)]
    try:
        runpy.run_path(program, run_name="__main__")
    except BaseException:  # else the fork would go on as its parent
        traceback.print_exc()
        return 1
    return 0


def main() -> int:
    import torch._dynamo  # noqa: F401  what a first optimizer imports
    import torch.utils.data  # noqa: F401
    failed, running = 0, 0
    for line in sys.stdin.read().splitlines():
        if running == 2:
            failed |= os.wait()[1]
            running -= 1
        if os.fork() == 0:
            status = run(*json.loads(line))
            sys.stdout.flush()
            os._exit(status)
        running += 1
    while running:
        failed |= os.wait()[1]
        running -= 1
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
