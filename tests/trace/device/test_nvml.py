# SPDX-License-Identifier: Apache-2.0
"""NVML is asked by a thread of ours and by nobody else; modules are told all the same. With a driver and
an NVML that are none."""

import subprocess
import sys
from pathlib import Path

import pytest

import runs

sys.path.insert(0, str(runs.ROOT / "tests" / "trace" / "interception"))
import c_programs  # noqa: E402

pytestmark = pytest.mark.skipif(runs.on_real_gpu(), reason="with a driver that is none")
PROGRAMS = Path(__file__).parent / "programs"
MIB = 1 << 20
# As it says of the others. (The thread that allocates meanwhile begins in the C library.)
OTHERS = 3 * MIB


@pytest.fixture(scope="module")
def folder(built, tmp_path_factory):
    made = tmp_path_factory.mktemp("nvml")
    driver = c_programs.library(made / "libcuda.so.1", PROGRAMS / "small_driver.c", "-lpthread", "-ldl")
    c_programs.compiled(made / "loads_modules", PROGRAMS / "loads_modules.c", driver, f"-Wl,-rpath,{made}")
    (made / "nvml").mkdir()
    c_programs.library(made / "nvml" / "libnvidia-ml.so.1", PROGRAMS / "nvml.c")
    return made


def record(folder: Path, output: Path, *arguments: str, **more: str) -> tuple[Path, str]:
    """The trace, and what was said."""
    output.mkdir()
    variables = {"LD_PRELOAD": str(runs.library()), "MEMTRACE_OUTPUT": str(output), **more}
    done = subprocess.run([folder / "loads_modules", *arguments], env=runs.environment(variables),
                          capture_output=True, text=True, check=True)
    trace, = runs.traces_in(output)
    return trace, done.stderr


def parts(trace: Path, folder: Path) -> dict[str, int]:
    device, = runs.report([trace], folder)["devices"]
    assert device["unexplained_bytes"] == 0
    return {part["part"]: part["bytes"] for part in device["used"]["parts"]}


def with_nvml(folder: Path, tmp_path: Path, **more: str) -> tuple[Path, Path]:
    """The trace, and the file with the names of threads."""
    threads, looked = tmp_path / "threads", tmp_path / "looked"
    if more:
        looked.touch()  # nobody will look
    trace, _ = record(folder, tmp_path / "traces", str(looked), NVML_THREADS=str(threads),
                      NVML_LOOKED=str(looked), LD_LIBRARY_PATH=str(folder / "nvml"), **more)
    return trace, threads


def test_only_a_thread_of_ours_asks(folder, tmp_path):
    trace, threads = with_nvml(folder, tmp_path)
    calls = [line.split() for line in threads.read_text().splitlines()]
    assert {name for name, _ in calls} == {"memtrace-nvml"}
    assert {"dlopen", "nvmlInit_v2", "nvmlDeviceGetComputeRunningProcesses_v3"} <= {call for _, call in calls}
    assert parts(trace, tmp_path) == {
        "context": 10 * MIB - OTHERS, "other_processes": OTHERS, "modules": 8 * MIB, "program": MIB,
        "library:libc.so.6": 5 * MIB, "rounding": 2 * MIB}


@pytest.mark.parametrize("off", [{"MEMTRACE_NVML": "0"}, {"MEMTRACE_SAMPLING": "0"}, {"MEMTRACE": "minimal"}])
def test_switched_off_nobody_opens_it(folder, tmp_path, off):
    _, threads = with_nvml(folder, tmp_path, **off)
    assert not threads.exists()


def record_until_said(folder: Path, output: Path, sentence: str, looked: Path) -> tuple[Path, str]:
    """As record(), of a program that ends when our thread has said that."""
    output.mkdir()
    variables = {"LD_PRELOAD": str(runs.library()), "MEMTRACE_OUTPUT": str(output)}
    said = ""
    with subprocess.Popen([folder / "loads_modules", looked], env=runs.environment(variables),
                          stderr=subprocess.PIPE, text=True) as program:
        for line in program.stderr:
            said += line
            if sentence in line:
                looked.touch()
    assert program.returncode == 0
    trace, = runs.traces_in(output)
    return trace, said


def test_modules_without_nvml(folder, tmp_path):
    trace, said = record_until_said(folder, tmp_path / "traces", "MEMTRACE_NVML=0", tmp_path / "looked")
    assert parts(trace, tmp_path) == {
        "context_and_other_processes": 10 * MIB, "modules": 8 * MIB, "program": MIB,
        "library:libc.so.6": 5 * MIB, "rounding": 2 * MIB}
    assert said.count("MEMTRACE_NVML=0") == 1
    refused = "what other processes hold on the device (NVML cannot be opened here)"
    assert f"Not recorded: {refused}" in runs.report_text([trace])
    recording = runs.report([trace], tmp_path)["processes"][0]["run"]["recording"]
    assert recording["refused"] == [{"capability": "nvml", "reason": "NVML cannot be opened here"}]
    assert all(call["size"] == 0 for call in runs.dump(trace) if call.get("api") == "cuModuleLoadData")
