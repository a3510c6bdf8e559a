# SPDX-License-Identifier: Apache-2.0
"""The server of warm.py: an interpreter that has imported torch, and forks a process for each program.

It serves from inside the interpreter's own start, where `site` imports this file and the program has not begun.
A forked child makes the start look as if its own program had been asked for, and returns: the interpreter then runs
that program as its `__main__`, and ends, exactly as after a cold start. No frame of ours is below the program's."""

from __future__ import annotations

import ctypes
import json
import os
import select
import socket
import sys
import time

PLACEHOLDER = "/memtrace-warm-start/program.py"  # the script that the interpreter was started with; never opened
OWN = ("MEMTRACE_WARM_CONTROL", "MEMTRACE_WARM_IMPORTS", "PYTHONPATH")
PR_SET_MM, PR_SET_MM_MAP = 35, 14
PYTHON = ctypes.pythonapi
C = ctypes.CDLL(None, use_errno=True)


def writable_regions() -> list[tuple[int, int, str]]:
    with open("/proc/self/maps") as lines:
        words = [line.split(maxsplit=5) for line in lines]
    return [(*(int(end, 16) for end in one[0].split("-")), one[5].strip() if len(one) > 5 else "")
            for one in words if one[1].startswith("rw")]


class Start:
    """The command that started them, as the interpreter and libmemtrace.so hold it, found once by the server."""

    def __init__(self):
        self.regions = writable_regions()
        PYTHON._Py_GetConfig.restype = ctypes.c_void_p
        PYTHON.Py_DecodeLocale.restype = ctypes.c_void_p
        self.script_pointers = self.pointers_to_placeholder()
        assert len(self.script_pointers) == 2, "this interpreter's PyConfig is not understood"
        self.folder = os.environ.get("MEMTRACE_OUTPUT")
        self.folder_text = self.text_in_library(self.folder) if self.folder else None
        self.loaded = self.moment_in_library() if self.folder else None

    def word(self, address: int) -> int | None:
        if any(begin <= address <= end - 8 for begin, end, _ in self.regions):
            return ctypes.c_uint64.from_address(address).value
        return None

    def is_placeholder(self, address: int) -> bool:
        wanted = PLACEHOLDER.encode("utf-32-le") + bytes(4)
        return any(begin <= address <= end - len(wanted) for begin, end, _ in self.regions) and (
            ctypes.string_at(address, len(wanted)) == wanted)

    def pointers_to_placeholder(self) -> list[int]:
        """PyConfig.run_filename, and the first of PyConfig.argv: the fields move from release to release."""
        config = PYTHON._Py_GetConfig()
        found = []
        for address in range(config, config + 512, 8):
            value = self.word(address)
            if value is None or value % 8:
                continue
            if self.is_placeholder(value):
                found.append(address)
            elif (first := self.word(value)) is not None and first % 4 == 0 and self.is_placeholder(first):
                found.append(value)
        return found

    def text_in_library(self, text: str) -> int:
        """Where libmemtrace.so keeps the directory for traces, which it read when it was loaded."""
        wanted = text.encode() + b"\0"
        inside = False
        for begin, end, name in self.regions:
            inside = name.endswith("/libmemtrace.so") or inside and not name
            at = ctypes.string_at(begin, end - begin).find(wanted) if inside else -1
            if at >= 0:
                return begin + at
        raise AssertionError("libmemtrace.so's directory for traces is not found")

    def moment_in_library(self) -> int:
        """Where libmemtrace.so keeps the moment of its loading: what is written later is not what a program runs."""
        with open("/proc/self/stat") as line:
            began = int(line.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        first = time.time_ns() - time.clock_gettime_ns(time.CLOCK_BOOTTIME) + int((began - 1) * 1e9)
        inside, found = False, []
        for begin, end, name in self.regions:
            inside = name.endswith("/libmemtrace.so") or inside and not name
            words = memoryview(ctypes.string_at(begin, end - begin)).cast("Q") if inside else ()
            found += [begin + 8 * at for at, word in enumerate(words) if first <= word <= first + 60 * 10**9]
        assert len(found) == 1, f"libmemtrace.so's moment of loading is not found: {len(found)}"
        return found[0]

    def become(self, command: list[str], output: str | None) -> None:
        for address in self.script_pointers:
            ctypes.c_uint64.from_address(address).value = PYTHON.Py_DecodeLocale(os.fsencode(command[1]), None)
        sys.argv[:] = command[1:]
        sys.orig_argv[:] = command
        if output is not None:
            text = os.fsencode(output) + b"\0"
            assert len(text) < 4096, "a longer directory than the library has room for"
            ctypes.memmove(self.folder_text, text, len(text))
            ctypes.c_uint64.from_address(self.loaded).value = time.time_ns()
        set_command_line(command)


def set_command_line(command: list[str]) -> None:
    """Changes the command line in /proc, from which the library takes the program's name."""
    text = b"".join(os.fsencode(word) + b"\0" for word in command)
    area = C.malloc
    area.restype = ctypes.c_void_p
    at = area(len(text))
    ctypes.memmove(at, text, len(text))
    with open("/proc/self/stat") as line:
        words = line.read().rpartition(")")[2].split()
    field = {number + 3: int(word) for number, word in enumerate(words) if word.lstrip("-").isdigit()}
    brk = C.sbrk
    brk.restype = ctypes.c_void_p
    places = (ctypes.c_uint64 * 13)(field[26], field[27], field[45], field[46], field[47], brk(0), field[28],
                                    at, at + len(text), field[50], field[51], 0, (1 << 64) - (1 << 32))
    if C.prctl(PR_SET_MM, PR_SET_MM_MAP, ctypes.byref(places), ctypes.c_ulong(ctypes.sizeof(places)), 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_MM_MAP)")


def become(start: Start, job: dict, files: list[int]) -> None:
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(job["cwd"])
    for name in OWN + tuple(job["unset"]):
        os.environ.pop(name, None)
    os.environ.update(job["set"])
    sys.path.remove(os.path.dirname(__file__))
    search = os.environ.get("PYTHONPATH")
    sys.path[:0] = search.split(os.pathsep) if search else []
    start.become(job["command"], job["output"])


def import_untouched(name: str) -> None:
    """Parts of transformers and torchao look at the GPU while they are imported: here they see none, as the server
    must not choose the GPU of its children."""
    if name.partition(".")[0] == "torch":
        __import__(name)
        return
    import torch
    import torch.utils._triton as triton

    asked = triton.has_triton, torch.cuda.is_available
    triton.has_triton = torch.cuda.is_available = lambda: False
    __import__(name)
    triton.has_triton, torch.cuda.is_available = asked


def serve() -> None:
    control = socket.socket(fileno=int(os.environ["MEMTRACE_WARM_CONTROL"]))
    for name in os.environ["MEMTRACE_WARM_IMPORTS"].split():
        import_untouched(name)
    assert not sys.modules["torch"].cuda.is_initialized(), "a child could not use CUDA"
    start = Start()
    running = {}  # pidfd: (process, the pipe that gets its status, session)
    poll = select.poll()
    poll.register(control, select.POLLIN)
    count = 0
    while True:
        for ready, _ in poll.poll():
            if ready != control.fileno():
                process, status, session = running.pop(ready)
                poll.unregister(ready)
                os.close(ready)
                ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                try:
                    os.unlink(f"/dev/shm/memtrace-{session}")
                except FileNotFoundError:
                    pass
                try:
                    os.write(status, b"%d\n" % ended)
                except BrokenPipeError:
                    pass
                os.close(status)
                continue
            message, files, _, _ = socket.recv_fds(control, 1 << 20, 4)
            if not message:
                os._exit(0)  # whoever asked is gone
            job = json.loads(message)
            count += 1
            job["set"]["MEMTRACE_SIM_SESSION"] = session = f"{os.getpid()}-{count}"
            *standard, status = files
            process = os.fork()
            if process == 0:
                control.close()
                os.close(status)
                for one, (_, pipe, _) in running.items():
                    os.close(one)
                    os.close(pipe)
                become(start, job, standard)
                return
            for one in standard:
                os.close(one)
            os.write(status, b"%d\n" % process)
            watched = os.pidfd_open(process)
            running[watched] = process, status, session
            poll.register(watched, select.POLLIN)


if sys.orig_argv[-1:] == [PLACEHOLDER]:  # not the interpreter that `memtrace dry-run` asks for its packages
    try:
        serve()
    except BaseException:  # `site` would go on, to a program that is none
        import traceback

        traceback.print_exc()
        os._exit(70)
    raise ImportError(name=__name__)  # for `site` there is no such module; nor is it in sys.modules
