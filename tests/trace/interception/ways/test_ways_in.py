# SPDX-License-Identifier: Apache-2.0
"""Libraries opened in every manner, a second runtime, a driver of a later release."""
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import runs

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import c_programs  # noqa: E402

PROGRAMS = HERE / "programs"
MIB = 1 << 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ways")


def runtime() -> Path:
    return next(c_programs.RUNTIME.glob("libcudart.so.13*"))


def both(folder: Path, command: list, name: str) -> tuple[runs.Outcome, list[dict]]:
    """The traced run, which printed what the bare one did, and its records."""
    bare = runs.run(command, None).expect(0)
    traced = runs.run(command, folder / name).expect(0)
    assert traced.stdout == bare.stdout
    assert len(traced.traces) == 1, traced.stderr
    return traced, runs.dump(traced.traces[0], stacks=False)


@pytest.mark.parametrize("binding", ["-Wl,-z,lazy", "-Wl,-z,now"])
@pytest.mark.parametrize("flags", ["now", "lazy", "now deep", "lazy deep", "lazy deep global"])
def test_calls_of_an_opened_library_are_recorded(built, folder, binding, flags):
    plugin = c_programs.library(folder / f"plugin{binding[-3:]}.so", PROGRAMS / "plugin.c",
                                runtime(), binding, "-Wl,-z,relro")
    opener = c_programs.compiled(folder / "opener", PROGRAMS / "opens_plugin.c", "-ldl")
    _, records = both(folder, [opener, plugin, *flags.split()], f"{flags}{binding[-3:]}")
    calls = [(call["api"], call["size"]) for call in records if call["kind"] == "cuda_call"]
    once = [("cudaMalloc", size * MIB) for size in (3, 5, 7)] + 3 * [("cudaFree", 0)]
    assert [call for call in calls if call[0] in ("cudaMalloc", "cudaFree")] == 2 * once


def end_in_the_middle_of_a_page(library: Path) -> None:
    """The region that is made read-only reaches over the table of functions, as some linkers leave it; the
    dynamic linker protects whole pages of it only."""
    content = bytearray(library.read_bytes())
    sections = subprocess.run(["readelf", "-S", "-W", library], capture_output=True, text=True, check=True)
    start, size = re.search(r" \.got\.plt +PROGBITS +(\w+) \w+ (\w+)", sections.stdout).groups()
    relro, entry, (at,), (count,) = 0x6474E552, 56, struct.unpack_from("<Q", content, 32), \
        struct.unpack_from("<H", content, 56)
    for header in range(at, at + count * entry, entry):
        if struct.unpack_from("<I", content, header) == (relro,):
            begin, = struct.unpack_from("<Q", content, header + 16)
            struct.pack_into("<Q", content, header + 40, int(start, 16) + int(size, 16) - begin)
            return library.write_bytes(content)
    raise AssertionError("no such region")


@pytest.mark.parametrize("set_in", ["1", "0"])
def test_what_shares_a_page_with_a_table_stays_writable(built, folder, set_in):
    plugin = c_programs.library(folder / "writes.so", PROGRAMS / "writes.c", runtime(), "-Wl,-z,lazy",
                                "-Wl,-z,relro")
    end_in_the_middle_of_a_page(plugin)
    opener = c_programs.compiled(folder / "opener", PROGRAMS / "opens_plugin.c", "-ldl")
    command = [opener, plugin, "lazy", "deep"]
    bare = runs.run(command, None).expect(0)
    traced = runs.run(command, folder / f"writes{set_in}", env={"MEMTRACE_DEEP_BINDING": set_in}).expect(0)
    assert traced.stdout == bare.stdout
    # Without its table corrected the library calls past us, and nothing begins a recording.
    assert len(traced.traces) == int(set_in)


def unknown(records: list[dict]) -> set[tuple]:
    return {(record["text"], record["a"], record["b"]) for record in records
            if record["kind"] == "operation" and record["operation"] == "unknown_entry_point"}


def test_a_second_runtime_is_left_alone_and_told(built, folder):
    other = c_programs.library(folder / "libcudart.so.12", PROGRAMS / "another_runtime.c")
    caller = c_programs.compiled(folder / "two_runtimes", PROGRAMS / "two_runtimes.c", runtime(),
                                 "-ldl")
    traced, records = both(folder, [caller, other], "two")
    assert b"cudaMalloc 77" in traced.stdout and b"0x1234000" in traced.stdout
    assert unknown(records) == {("cudaMalloc", 0, 1), ("cudaMallocLater", 0, 0)}


def test_each_framework_reaches_the_runtime_that_it_brings(built, folder):
    source = PROGRAMS / "linked_plugin.c"
    (folder / "other").mkdir()
    other = c_programs.library(folder / "other" / "libcudart.so.12", PROGRAMS / "another_runtime.c",
                               "-Wl,-soname,libcudart.so.12")
    plugins = [
        c_programs.library(folder / "first.so", source, runtime()),
        c_programs.library(folder / "second.so", source, other, f"-Wl,-rpath,{other.parent}"),
    ]
    caller = c_programs.compiled(folder / "frameworks", PROGRAMS / "two_frameworks.c", "-ldl")
    traced, records = both(folder, [caller, *plugins], "of_frameworks")
    assert traced.stdout.splitlines() == 2 * [b"1: error 0", b"2: error 77, of the other"]
    calls = [(call["api"], call["size"], call["error"]) for call in records
             if call["kind"] == "cuda_call" and call["api"] == "cudaMalloc"]
    assert calls == 2 * [("cudaMalloc", 77, 0), ("cudaMalloc", 77, 77)]


def test_functions_of_a_later_release_pass_and_are_told(built, folder):
    driver = folder / "later" / "libcuda.so.1"
    driver.parent.mkdir()
    source = folder / "driver.c"
    source.write_text(subprocess.run(
        [sys.executable, HERE.parent / "real_cudart" / "make_driver.py"], check=True,
        capture_output=True, text=True).stdout)
    c_programs.library(driver, source, "-Wl,-soname,libcuda.so.1")
    program = c_programs.compiled(folder / "later_driver", PROGRAMS / "later_driver.c", "-ldl")
    printed = []
    output = folder / "later_traces"
    for traced in (False, True):
        variables = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(driver.parent)}
        if traced:
            variables |= {"LD_PRELOAD": str(runs.library()), "MEMTRACE_OUTPUT": str(output)}
            output.mkdir()
        outcome = subprocess.run([program], env=variables, capture_output=True, check=False)
        assert outcome.returncode == 0, outcome.stderr
        printed.append(outcome.stdout)
    assert printed[0] == printed[1]
    assert b"cuMemAllocLater 13010: error 0 status 0 cuMemAllocLater" in printed[0]
    traces = runs.traces_in(output)
    records = runs.dump(traces[0], stacks=False)
    assert unknown(records) == {("cuMemAllocLater", 13010, 0)}
    told = runs.report(traces, output)["completeness"]["unknown_entry_points"]
    assert told == [{"name": "cuMemAllocLater", "cuda_version": 13010, "another": False}]
    assert "cuMemAllocLater (CUDA 13.1)" in runs.report_text(traces)
    assert ("cuMemAlloc_v2", MIB) in [(call["api"], call["size"]) for call in records
                                      if call["kind"] == "cuda_call"]


@pytest.mark.parametrize("name", [
    "_ZN3c104cuda20getCurrentCUDAStreamEa", "_ZN2at15sequence_number17get_and_incrementEv",
    "_ZN2at8autocast20set_autocast_enabledEN3c1010DeviceTypeEb"])
def test_a_function_that_is_nowhere_ends_the_process_as_without_us(built, folder, name):
    source, define = PROGRAMS / "missing.c", f'-DNAME="{name}"'
    library = c_programs.library(folder / f"lib{name}.so", source, define, "-DWITH")
    program = c_programs.compiled(folder / f"missing{name}", source, define, "-DPROGRAM", library, "-Wl,-z,lazy")
    c_programs.library(library, source, define)
    for output in (None, folder / "missing"):
        outcome = runs.run([program], output).expect(127)
        assert outcome.stdout == b"before\n"
        assert b"symbol lookup error: " in outcome.stderr
        assert f"undefined symbol: {name}".encode() in outcome.stderr
