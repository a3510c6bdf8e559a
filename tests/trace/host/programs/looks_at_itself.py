# SPDX-License-Identifier: Apache-2.0
"""Prints what a program could notice of a thread that reads files in its process."""

import os
import signal
import sys
import time

import torch


def descriptors():
    return sorted(os.listdir("/proc/self/fd"), key=int)


def redirect_again_and_again():
    """As a shell does it: what is opened next has the number that was closed last."""
    standard_input = os.dup(0)
    wrong = 0
    end = time.monotonic() + 2
    while time.monotonic() < end:
        os.close(0)
        wrong += os.open("/dev/null", os.O_RDONLY) != 0
    os.dup2(standard_input, 0)
    os.close(standard_input)
    return wrong


def pipe_ends_with_its_writer():
    reader, writer = os.pipe()
    time.sleep(0.3)
    os.close(writer)
    ended = os.read(reader, 1) == b""
    os.close(reader)
    return ended


def signals_of_other_threads():
    """A signal to the process reaches the program's thread, whoever else is there."""
    seen = []
    signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    for _ in range(50):
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.002)
    return len(seen)


def main():
    torch.ones(4).cuda()
    before = descriptors()
    print("wrong numbers", redirect_again_and_again())
    print("pipe ends", pipe_ends_with_its_writer())
    print("signals", signals_of_other_threads())
    print("descriptors stay", descriptors() == before)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        print("threads of a forked child", len(os.listdir("/proc/self/task")), flush=True)
        os._exit(3)
    print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    sys.stdout.flush()
    if len(sys.argv) == 1:
        os.execv(sys.executable, [sys.executable, __file__, "again"])


if __name__ == "__main__":
    main()
