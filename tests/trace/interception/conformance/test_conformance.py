# SPDX-License-Identifier: Apache-2.0
"""Every hooked function through every way to it, bare and traced: the program sees the same, and
every call is in the trace."""
import collections
import re
import subprocess
import sys
from pathlib import Path

import pytest
import runs

HERE = Path(__file__).resolve().parent
HEADERS = runs.ROOT / ".deps" / "cuda13" / "include"
TABLE = runs.ROOT / "interpose" / "ground" / "loader" / "hooks.def"
sys.path.insert(0, str(HERE))
import generate  # noqa: E402

# CUDA 13 has these no more; libmemtrace.so stands in front of CUDA 12's.
OF_CUDA_12 = {"cudaGraphAddNode_v2", "cudaMemAdvise_v2", "cudaMemPrefetchAsync_v2",
              "cudaMemPrefetchAsync_v2_ptsz", "cudaThreadExit", "cudaThreadSetLimit"}
MACHINE = {"devices": 2, "env": {"MEMTRACE_SIM_CONSTANTS": "multicast=1"}}
MODES = [("linked", "all"), ("local", "all"), ("deep", "all"), ("linked", "threads"), ("local", "threads")]


def compile_with(line: list) -> None:
    outcome = subprocess.run([str(part) for part in line], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr


@pytest.fixture(scope="module")
def programs(tmp_path_factory, built) -> Path:
    folder = tmp_path_factory.mktemp("conformance")
    (folder / "calls.cpp").write_text(generate.program(TABLE.read_text(), OF_CUDA_12))
    (folder / "nothing.c").write_text("")
    for soname in ("libcuda.so.1", "libcudart.so.13"):  # only to be needed; the stand-ins come later
        compile_with(["gcc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", folder / soname, folder / "nothing.c"])
    flags = ["g++", "-std=c++20", "-O0", "-Wall", "-Wextra", "-Wno-deprecated-declarations", "-isystem", HEADERS,
             "-I", HERE, "-L", folder]
    compile_with([*flags, "-shared", "-fPIC", "-o", folder / "libcalls.so", folder / "calls.cpp", HERE / "world.cpp",
                  HERE / "descriptions.cpp", HERE / "runner.cpp", "-Wl,--no-as-needed", "-l:libcuda.so.1", "-l:libcudart.so.13", "-ldl",
                  "-lpthread"])
    compile_with([*flags, "-DMEMTRACE_LINKED", "-o", folder / "linked", HERE / "program.cpp", "-lcalls",
                  f"-Wl,-rpath,{folder}", "-Wl,--unresolved-symbols=ignore-all"])
    compile_with([*flags, "-o", folder / "opened", HERE / "program.cpp", "-ldl"])
    for soname in ("libcuda.so.1", "libcudart.so.13"):
        (folder / soname).unlink()
    return folder


def command(programs: Path, mode: str, what: str) -> list:
    return [programs / ("linked" if mode == "linked" else "opened"), programs / "libcalls.so", mode, what]


def test_the_simulator_has_every_hooked_function(built):
    core = runs.build() / "simulator" / "cuda13" / "libmemtrace_cuda.so"
    listed = subprocess.run(["nm", "-D", "--defined-only", core], capture_output=True, text=True, check=True).stdout
    there = {line.split()[-1] for line in listed.splitlines()}
    assert {row[2] for row in generate.rows(TABLE.read_text())} - there == OF_CUDA_12


def parent_trace(folder: Path) -> list[dict]:
    """The program's own trace; another process only lends it memory."""
    every = [runs.dump(path, stacks=False) for path in runs.traces_in(folder)]
    return max(every, key=len)


# In the trace a node that allocates has the name of the call that adds only such nodes; and the
# release of a device's own context is recorded where it ended the context, which none here does.
NODES = {"cudaGraphAddNode": "cudaGraphAddMemAllocNode", "cuGraphAddNode": "cuGraphAddMemAllocNode",
         "cuGraphAddNode_v2": "cuGraphAddMemAllocNode"}
ENDS_NOTHING = {"cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2"}
# RTLD_NEXT means behind us.
PAST_US = {"next"}


def successes(lines: list[str]) -> collections.Counter:
    """How often each function succeeded in doing something, as the program says."""
    kinds = {symbol: kind for kind, _, symbol, _, _ in generate.rows(TABLE.read_text())}
    count = collections.Counter()

    def see(symbol: str, nothing_given: bool, times: int) -> None:
        if symbol not in kinds or symbol in ENDS_NOTHING:
            return
        if not (kinds[symbol] == "RELEASES" and nothing_given):
            count[NODES.get(symbol, symbol)] += times

    for line in lines:
        words = line.split()
        if line.startswith("helper "):
            see(words[1], False, int(words[2]))
        elif line.startswith("threads ") and words[3] == "0":
            see(words[1], words[2] == "null", int(words[5]))
        elif called := re.match(r"(\w+) \| ([^|]+) \| (\w[\w ]*) \| 0 ", line):
            symbol, way, kind = called.groups()
            if way not in PAST_US:
                see(symbol, kind == "null", 1)
    return count


def recorded(events: list[dict]) -> collections.Counter:
    count = collections.Counter()
    for event in events:
        if event["kind"] in ("cuda_call", "cuda_undo"):
            name = event["api"].removesuffix(" (captured)")
            if event["kind"] == "cuda_undo":
                count[name] -= 1
            elif event.get("error", 0) == 0:
                count[name] += 1
    return +count


@pytest.mark.parametrize(("mode", "what"), MODES)
def test_the_program_sees_the_same_and_every_call_is_recorded(programs, tmp_path, mode, what):
    line = command(programs, mode, what)
    bare = runs.run(line, None, **MACHINE).expect(0)
    traced = runs.run(line, tmp_path / "traces", **MACHINE).expect(0)
    before, after = bare.stdout.decode().splitlines(), traced.stdout.decode().splitlines()
    different = [pair for pair in zip(before, after) if pair[0] != pair[1]]
    assert not different, f"{len(different)} of {len(before)}: {different[:5]}"
    assert len(before) == len(after)

    seen = successes(after)
    assert len(seen) > 150  # of 193 functions, nearly all of which can succeed
    assert recorded(parent_trace(tmp_path / "traces")) == seen
