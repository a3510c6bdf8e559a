# SPDX-License-Identifier: Apache-2.0
"""Bugs that other hook libraries had, by the number they have there.

Each program runs on the simulated GPU bare, with a naive library that has the bug, and with
libmemtrace.so. The naive one must be seen to change the program, or to lose memory; ours must not.
"""
import os
import subprocess
import sys
from pathlib import Path

import pytest
import runs

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import c_programs  # noqa: E402

MIB = 1 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bugs")


def program(folder: Path, name: str, *flags) -> Path:
    target = folder / name
    if not target.exists():
        c_programs.compiled(target, HERE / "programs" / f"{name}.c", *flags, "-ldl", "-lpthread")
    return target


def naive(folder: Path, name: str, *flags) -> Path:
    target = folder / f"naive_{name}.so"
    if not target.exists():
        source = HERE / "naive" / f"{name}.c"
        # Calls stay calls: that it jumps by chance where it is optimised does not make it right.
        c_programs.library(target, source, "-fno-optimize-sibling-calls", *flags, "-ldl")
    return target


class Runs:
    """The same command bare, with the naive library in front, and traced."""

    def __init__(self, folder: Path, command: list, library: Path, **machine):
        self.bare = runs.run(command, None, **machine)
        preload = f'LD_PRELOAD="{library}${{LD_PRELOAD:+:$LD_PRELOAD}}" exec "$@"'
        self.naive = runs.run(["sh", "-c", preload, "sh", *command], None, **machine)
        output = folder / f"traces_of_{library.stem}_{'_'.join(map(str, command[1:]))}"
        self.traced = runs.run(command, output, **machine)

    def same(self) -> bool:
        assert self.bare.status == 0, self.bare.stderr
        return (self.traced.status, self.traced.stdout) == (self.bare.status, self.bare.stdout)

    def naive_differs(self) -> bool:
        return (self.naive.status, self.naive.stdout) != (self.bare.status, self.bare.stdout)

    def calls(self) -> list[dict]:
        assert len(self.traced.traces) == 1, self.traced.stderr
        records = runs.dump(self.traced.traces[0], stacks=False)
        return [record for record in records if record["kind"] == "cuda_call"]


@pytest.mark.parametrize(("version", "bug"), [
    (4000, "newest_version"),   # HAMi-core 57: always the newest function
    (13000, "third_version"),   # HAMi-core 320: cuCtxCreate of CUDA 13 is _v4
])
def test_the_version_asked_for_is_the_one_called(built, folder, version, bug):
    command = [program(folder, "context_versions"), str(version)]
    outcome = Runs(folder, command, naive(folder, bug), devices=2)
    assert b"created 0 on device 1" in outcome.bare.stdout
    assert outcome.naive_differs()
    assert outcome.same(), outcome.traced.stdout


def test_a_thread_without_a_context(built, folder):  # HAMi-core 172
    command = [program(folder, "thread_without_context")]
    outcome = Runs(folder, command, naive(folder, "charges_current_device"), devices=2)
    assert b"error 201" in outcome.bare.stdout  # there is no context
    assert outcome.naive_differs()
    assert outcome.same(), outcome.traced.stdout
    made = [call for call in outcome.calls() if call["api"] == "cuMemCreate"]
    assert [(call["device"], call["size"]) for call in made] == [(1, 4 * MIB)]


def test_memory_that_is_on_no_device(built, folder):  # HAMi-core 187
    command = [program(folder, "memory_on_the_host")]
    outcome = Runs(folder, command, naive(folder, "charges_devices_only"))
    assert outcome.naive_differs()
    assert outcome.same(), outcome.traced.stdout


def test_a_library_that_looks_up_its_other_half(built, folder):  # HAMi-core PR 215
    both = HERE / "programs" / "front_and_back.c"
    c_programs.library(folder / "libback.so", both, "-DBACK")
    c_programs.library(folder / "libfront.so", both, "-DFRONT", f"-Wl,-rpath,{folder}", "-ldl")
    caller = program(folder, "front_and_back", folder / "libfront.so", f"-Wl,-rpath,{folder}")
    outcome = Runs(folder, [caller], naive(folder, "ignores_the_handle"))
    assert b"for ever" in outcome.naive.stdout
    assert outcome.same(), outcome.traced.stdout


def test_frees_of_what_was_never_seen(built, folder):  # HAMi-core 257
    outcome = Runs(folder, [program(folder, "foreign_free")],
                   naive(folder, "refuses_foreign_frees"))
    assert b"freed 0\n" in outcome.bare.stdout
    assert b"freed -1\n" in outcome.naive.stdout
    assert outcome.same(), outcome.traced.stdout


def test_a_free_while_another_device_is_current(built, folder):  # HAMi-core 310
    command = [program(folder, "free_on_another_device")]
    outcome = Runs(folder, command, naive(folder, "frees_on_the_current_device"), devices=2)
    assert b"device 0 holds -3145728, device 1 holds 3145728" in outcome.naive.stderr
    assert outcome.same(), outcome.traced.stdout
    taken = {call["address"]: (call["device"], call["size"]) for call in outcome.calls()
             if not call["release"] and call["size"] in (3 * MIB, 5 * MIB)}
    assert sorted(taken.values()) == [(1, 3 * MIB), (1, 5 * MIB)]
    freed = {call["address"] for call in outcome.calls() if call["release"]}
    assert freed >= set(taken)  # what the trace has of a free is the address: it tells the device


def test_results_left_out(built, folder):  # HAMi-core 333
    outcome = Runs(folder, [program(folder, "null_results")], naive(folder, "writes_to_null"))
    assert outcome.naive.status != 0
    assert outcome.same(), outcome.traced.stdout


def test_the_next_function_of_the_name(built, folder):  # HAMi-core PR 315, 279
    source = HERE / "programs" / "tool_of_openmp.c"
    c_programs.library(folder / "libopenmp.so", source, "-DLIBRARY", "-ldl")
    caller = program(folder, "tool_of_openmp", folder / "libopenmp.so", f"-Wl,-rpath,{folder}")
    outcome = Runs(folder, [caller], naive(folder, "forwards_dlsym"))
    assert b"for ever" in outcome.naive.stdout
    assert outcome.same(), outcome.traced.stdout


def test_memory_of_expandable_segments(built, folder):  # torch_memory_saver 24
    outcome = Runs(folder, [program(folder, "expandable_memory")],
                   naive(folder, "sees_cudamalloc"))
    assert outcome.bare.stdout == b"0 0 0\n"
    assert b"saw 0 bytes" in outcome.naive.stderr
    assert outcome.same(), outcome.traced.stdout
    seen = [(call["api"], call["size"]) for call in outcome.calls()
            if call["api"] in ("cuMemCreate", "cuMemMap")]
    assert seen == [("cuMemCreate", 20 * MIB), ("cuMemMap", 20 * MIB)]


def test_children_without_cuda(built, folder):  # sglang PR 36643
    runtime = next(c_programs.RUNTIME.glob("libcudart.so.13*"))
    needing = naive(folder, "needs_the_runtime", runtime)
    for library, status in ((needing, 127), (runs.library(), 0)):
        variables = {"PATH": os.environ["PATH"], "LD_PRELOAD": str(library)}
        child = subprocess.run(["/bin/true"], env=variables, capture_output=True, check=False)
        assert child.returncode == status, child.stderr
        assert bool(child.stderr) == bool(status)
