# SPDX-License-Identifier: Apache-2.0
"""The records of CUDA calls that a program makes itself: device, owner, graph, context, size,
and what was taken back because it failed.
"""
import re
import subprocess
import sys
from pathlib import Path

import pytest
import runs

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import c_programs  # noqa: E402

MIB = 1 << 20
INCLUDE = f"-I{HERE.parent / 'bugs' / 'programs'}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("records")


@pytest.fixture(scope="module")
def program(folder):
    return c_programs.compiled(
        folder / "records", HERE / "programs" / "records.c", INCLUDE, "-ldl"
    )


def traced(folder: Path, program: Path, *arguments, **how) -> tuple[bytes, list[dict]]:
    """The program's output, which must be the same as without us, and the calls and undone calls."""
    command = [program, *arguments]
    bare = runs.run(command, None, **how).expect(0)
    output = folder / Path(arguments[0]).name
    outcome = runs.run(command, output, **how).expect(0)
    assert outcome.stdout == bare.stdout
    records = runs.dump(outcome.traces[0])
    return outcome.stdout, [r for r in records if r["kind"] in ("cuda_call", "cuda_undo")]


def named(calls: list[dict], *names: str) -> list[dict]:
    return [call for call in calls if call["api"] in names]


def test_owners_and_native_frames(built, folder, program):
    library = c_programs.library(
        folder / "libasks.so", HERE / "programs" / "asks.c", INCLUDE, "-ldl"
    )
    _, calls = traced(folder, program, "library", library)
    asked, own = named(calls, "cuMemAlloc_v2")
    assert (asked["owner"], asked["size"]) == ("libasks.so", 3 * MIB)
    assert own["owner"] == ""  # the program itself
    innermost = asked["stack"][0]
    assert innermost["function"].startswith("asks_for_memory+0x")
    assert innermost["file"] == str(library)
    # A function that is not exported is named by its place in the file.
    place = re.fullmatch(r"\+0x([0-9a-f]+)", own["stack"][0]["function"])
    assert own["stack"][0]["file"] == str(program) and place
    printed = subprocess.run(["addr2line", "-f", "-e", program, place[1]], capture_output=True,
                             text=True, check=True).stdout
    assert printed.splitlines()[0] in ("library", "main")  # one may be inlined in the other
    (by_runtime,) = named(calls, "cudaMalloc")
    # A program without Python has no other line of it.
    assert by_runtime["owner"] == "" and by_runtime["stack"][0]["file"] == str(program)
    printed = runs.report_text(runs.traces_in(folder / "library"))
    assert re.search(r"1  asks\.c:\d+ asks_for_memory  ", printed)
    assert "3 MiB libasks.so" in printed  # of what is most in use


def test_native_frames_everywhere_on_request(built, folder, program):
    output = folder / "native"
    outcome = runs.run([program, "failures"], output, env={"MEMTRACE_NATIVE_STACKS": "1"}).expect(0)
    calls = [r for r in runs.dump(outcome.traces[0]) if r["kind"] == "cuda_call"]
    freed = named(calls, "cuMemFree_v2")
    assert freed and all(call["stack"][0]["file"] == str(program) for call in freed)


def test_the_device_is_that_of_the_memory(built, folder, program):
    _, calls = traced(folder, program, "devices", devices=2)
    on_second = named(
        calls, "cuMemAllocAsync", "cuMemPoolCreate", "cuMemAllocFromPoolAsync", "cuMemCreate",
        "cuMemAlloc_v2", "cuMemFreeAsync", "cuMemFree_v2", "cuMemPoolDestroy", "cuMemRelease",
    )
    assert len(on_second) == 10
    assert {call["api"]: call["device"] for call in on_second if call["device"] != 1} == {}


def test_what_failed_is_taken_back(built, folder, program):
    _, calls = traced(folder, program, "failures")
    allocated, too_much = named(calls, "cuMemAlloc_v2")
    assert allocated["error"] == 0
    assert (too_much["error"], too_much["size"]) == (2, 1 << 50)
    # Freed, freed again and taken back; the null pointer is nothing to tell of.
    freed = named(calls, "cuMemFree_v2")
    assert [call["kind"] for call in freed] == ["cuda_call", "cuda_call", "cuda_undo"]
    assert {call["address"] for call in freed} == {allocated["address"]}
    (made,) = named(calls, "cuMemCreate")
    released = named(calls, "cuMemRelease")
    assert [call["kind"] for call in released] == ["cuda_call", "cuda_call", "cuda_undo"]
    assert {call["handle"] for call in released} == {made["handle"]}
    assert freed[-1]["error"] == released[-1]["error"] == 1


def test_captured_calls_belong_to_their_graph(built, folder, program):
    _, calls = traced(folder, program, "captured")
    (before,) = named(calls, "cuMemAllocAsync")
    assert before["size"] == MIB
    (inside,) = named(calls, "cuMemAllocAsync (captured)")
    (freed,) = named(calls, "cuMemFreeAsync (captured)")
    assert inside["size"] == 6 * MIB and inside["handle"] != 0
    assert (freed["address"], freed["handle"]) == (inside["address"], inside["handle"])
    assert len(named(calls, "cuMemFreeAsync")) == 1
    assert len(named(calls, "cuGraphLaunch")) == 1


def test_nodes_that_allocate_and_free(built, folder, program):
    _, calls = traced(folder, program, "nodes")
    (allocates,) = named(calls, "cuGraphAddMemAllocNode")
    (frees,) = named(calls, "cuGraphAddMemFreeNode")
    assert allocates["size"] == 5 * MIB and allocates["address"] != 0
    assert (frees["address"], frees["handle"]) == (allocates["address"], allocates["handle"])
    assert not [call for call in calls if call["api"].startswith("cuGraphAddNode")]


def test_memory_of_a_context_that_was_made(built, folder, program):
    _, calls = traced(folder, program, "contexts")
    (made,) = named(calls, "cuCtxCreate_v2")
    inside, outside = named(calls, "cuMemAlloc_v2")
    assert (inside["handle"], outside["handle"]) == (made["handle"], 0)
    (destroyed,) = named(calls, "cuCtxDestroy_v2")
    assert destroyed["handle"] == made["handle"]
    # The last one of two users of the device's own context ends it.
    retained = named(calls, "cuDevicePrimaryCtxRetain")
    (released,) = named(calls, "cuDevicePrimaryCtxRelease_v2")
    assert len(retained) == 2 and released["handle"] == retained[0]["handle"]


def test_arrays_by_their_elements(built, folder, program):
    _, calls = traced(folder, program, "arrays")
    (flat,) = named(calls, "cuArrayCreate_v2")
    (levels,) = named(calls, "cuMipmappedArrayCreate")
    assert flat["size"] == 300 * 200 * 4 * 4
    assert levels["size"] == 64 * 32 * 16 + 32 * 16 * 8 + 16 * 8 * 4
    ended = named(calls, "cuArrayDestroy", "cuMipmappedArrayDestroy")
    assert [call["handle"] for call in ended] == [flat["handle"], levels["handle"]]


def test_a_free_while_the_process_leaves(built, folder, program):
    printed, calls = traced(folder, program, "leaving")
    assert b"at exit 0" in printed
    (allocated,) = named(calls, "cuMemAlloc_v2")
    (freed,) = named(calls, "cuMemFree_v2")
    assert freed["address"] == allocated["address"]


def test_checkpoints_of_other_processes_are_not_ours(built, folder, program):
    _, calls = traced(folder, program, "checkpoints")
    (lock,) = named(calls, "cuCheckpointProcessLock")
    assert lock["error"] == 0


def test_what_ctypes_passes_on_is_the_programs(built, folder):
    script = HERE / "programs" / "by_ctypes.py"
    _, calls = traced(folder, Path(sys.executable), script, "alone")
    (allocated,) = named(calls, "cuMemAlloc_v2")
    assert (allocated["owner"], allocated["size"]) == ("", 3 * MIB)
    functions = [frame["function"] for frame in allocated["stack"]]
    assert functions[-2:] == ["allocate", "<module>"]


def test_a_forked_child_has_its_own_trace(built, folder):
    output = folder / "fork"
    script = HERE / "programs" / "by_ctypes.py"
    outcome = runs.run([sys.executable, script, "fork"], output).expect(0)
    assert outcome.stdout.split() == [b"0", b"0"]
    sizes = [
        [call["size"] for call in runs.dump(trace) if call.get("api") == "cuMemAlloc_v2"]
        for trace in outcome.traces
    ]
    assert sorted(sizes) == [[2 * MIB], [3 * MIB]]
