# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's own CUDA runtime, static and shared, 12.4, 13.0 and 13.5, on a driver that does nothing but answer it.

The runtime asks the driver for all its functions by name and then refuses to go on, since it finds
none of the driver's undocumented tables. What it keeps by then must be the same with libmemtrace.so
but for the functions that have a wrapper, and those must be the wrappers of the same functions.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import runs

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import c_programs  # noqa: E402


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A folder with the driver and both programs."""
    if not all((c_programs.RUNTIME / "libcudart_static.a").exists() and libraries.exists()
               for libraries in (c_programs.RUNTIME_12, c_programs.RUNTIME_NEWEST)):
        pytest.fail("no CUDA runtimes in .deps: run scripts/setup", pytrace=False)
    folder = tmp_path_factory.mktemp("real_cudart")
    driver = folder / "driver.c"
    driver.write_text(subprocess.run([sys.executable, HERE / "make_driver.py"], check=True,
                                     capture_output=True, text=True).stdout)
    c_programs.library(folder / "libcuda.so.1", driver, "-Wl,-soname,libcuda.so.1")
    c_programs.compiled(folder / "static", HERE / "tables.c",
                        c_programs.RUNTIME / "libcudart_static.a", "-ldl", "-lpthread", "-lrt")
    for name, libraries in (("shared", c_programs.RUNTIME), ("shared_12", c_programs.RUNTIME_12),
                            ("shared_newest", c_programs.RUNTIME_NEWEST)):
        shared = next(libraries.glob("libcudart.so.1*"))
        c_programs.compiled(folder / name, HERE / "tables.c", shared, f"-Wl,-rpath,{libraries}")
    return folder


def run(machine: Path, program: str, traced: bool) -> tuple[list[str], list[str]]:
    """The program's output, and what the driver was asked."""
    questions = machine / f"{program}.{traced}.questions"
    questions.unlink(missing_ok=True)
    variables = {**os.environ, "LD_LIBRARY_PATH": str(machine), "QUERY_LOG": str(questions)}
    variables.pop("LD_PRELOAD", None)
    if traced:
        variables |= {"LD_PRELOAD": str(runs.library()), "MEMTRACE_OUTPUT": str(machine)}
    arguments = ["libcudart.so"] if program.startswith("shared") else []
    outcome = subprocess.run([machine / program, *arguments], env=variables, capture_output=True,
                             text=True, check=False, timeout=60)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout.splitlines(), questions.read_text().splitlines()


def hooked() -> set[str]:
    rows = (runs.ROOT / "interpose" / "ground" / "loader" / "hooks.def").read_text()
    return set(re.findall(r"^[A-Z_]+\(driver, (\w+)", rows, re.MULTILINE))


@pytest.mark.parametrize("program", ["static", "shared", "shared_12", "shared_newest"])
def test_the_runtime_keeps_the_same_functions_or_their_wrappers(built, machine, program):
    bare, asked_bare = run(machine, program, traced=False)
    traced, asked_traced = run(machine, program, traced=True)
    assert asked_traced == asked_bare
    assert len(asked_bare) > 400  # it got past its first questions
    assert sum(" 2 " in line for line in asked_bare) > 50  # and asked for the per-thread stream's
    assert traced[0] == bare[0]  # the same errors
    found = [line.split() for line in bare[1:]]
    assert len(found) >= len(asked_bare) - 1  # all but the empty name have a function
    assert {kind for _, kind in found} == {"driver"}
    wrapped = hooked()
    expected = [[name, "wrapper" if name in wrapped else "driver"] for name, _ in found]
    assert [line.split() for line in traced[1:]] == expected
    assert {"cuGetProcAddress_v2", "cuMemAlloc_v2", "cuMemAllocAsync_ptsz"} <= {
        name for name, kind in expected if kind == "wrapper"}


def test_the_list_of_known_names_is_that_of_the_headers(built):
    script = runs.ROOT / "interpose" / "ground" / "loader" / "make_known_names.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True,
                             check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
