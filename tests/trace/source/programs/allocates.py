# SPDX-License-Identifier: Apache-2.0
"""Allocates on the GPU from its own file and from a module beside it, and does then what it is told."""

import os
import pathlib
import sys

import torch

kept = []


def allocate(steps: int = 4) -> None:
    for _ in range(steps):
        kept.append(torch.empty(1 << 20, device="cuda"))


what = sys.argv[1]
if what == "changes":  # as an editor does while the program runs
    path = pathlib.Path(__file__)
    path.write_text(path.read_text() + "# edited\n")
elif what == "goes":
    os.unlink(__file__)
elif what == "pipe":
    os.unlink(__file__)
    os.mkfifo(__file__)
elif what == "large":
    path = pathlib.Path(__file__)
    path.write_text(path.read_text() + "#" * (600 << 10))
child = os.fork() if what == "forks" else 0
allocate()
if what == "imports":
    import helper

    helper.allocate()
elif what == "killed":
    os.kill(os.getpid(), 9)
elif child:
    os.waitpid(child, 0)
