# SPDX-License-Identifier: Apache-2.0
"""memtrace doctor, and the line of memtrace run before the program starts: what will be recorded, what
not, and why. Each reason is made for real, but for drivers and GPUs."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import runs
from environments import NEWEST, OLDEST, PYTHONS

DRIVER = "int cuDriverGetVersion(int* version) {{ *version = {version}; return 0; }}\n"


def said(*arguments, env=None, cwd=None) -> tuple[int, str]:
    done = subprocess.run([runs.memtrace(), *map(str, arguments)], env=runs.environment(env), cwd=cwd,
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == "", done.stderr
    return done.returncode, done.stdout


def line_of(topic: str, text: str) -> str:
    line, = (one for one in text.splitlines() if one[2:].startswith(topic + " "))
    return line


@pytest.fixture(scope="module")
def driver(built, tmp_path_factory):
    """A libcuda.so.1 that says a version."""
    def made(version: int) -> dict[str, str]:
        folder = tmp_path_factory.mktemp("driver")
        (folder / "cuda.c").write_text(DRIVER.format(version=version))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", folder / "cuda.c"], check=True)
        return {"LD_LIBRARY_PATH": str(folder)}
    return made


@pytest.fixture
def torch_of(tmp_path):
    """A PyTorch of that version, as far as it is looked at."""
    def made(version: str, cuda) -> dict[str, str]:
        (tmp_path / "torch").mkdir()
        (tmp_path / "torch" / "__init__.py").write_text("raise SystemExit('nobody imports it')")
        (tmp_path / "torch" / "version.py").write_text(f"__version__ = {version!r}\ncuda = {cuda!r}\n")
        return {"PYTHONPATH": str(tmp_path)}
    return made


def test_all_is_well(built, tmp_path, driver):
    status, text = said("doctor", "--", runs.python(), "train.py", env=driver(13000), cwd=tmp_path)
    assert status == 0, text
    assert "memtrace run records allocations, CUDA calls, Python stacks, names" in text.splitlines()[-1]
    assert "built with CUDA" in line_of("PyTorch", text)
    assert f"{tmp_path}, " in line_of("Traces", text) and "free" in line_of("Traces", text)
    assert all(line[0] == " " for line in text.splitlines() if line[2:].startswith(("P", "T", "G", "M")))


def test_without_a_driver_there_is_nothing_to_record(built, tmp_path):
    if Path("/proc/driver/nvidia").exists():
        pytest.skip("there is a driver here")
    status, text = said("doctor", "--", runs.python(), cwd=tmp_path)
    assert status == 1 and "dry-run" in line_of("GPU", text) and line_of("GPU", text)[0] == "x"
    assert "nothing" in text.splitlines()[-1]


@pytest.mark.parametrize(("version", "variables", "word"), [
    (12040, {}, "too old for a PyTorch with CUDA 13.0"),
    (13000, {"CUDA_VISIBLE_DEVICES": ""}, "hidden by CUDA_VISIBLE_DEVICES"),
])
def test_a_driver_that_does_not_serve(built, tmp_path, driver, torch_of, version, variables, word):
    env = {**driver(version), **torch_of("2.11.0+cu130", "13.0"), **variables}
    status, text = said("doctor", "--", runs.python(), env=env, cwd=tmp_path)
    assert status == 1 and word in line_of("GPU", text)


@pytest.mark.parametrize(("torch", "cuda", "mark", "word"), [
    ("2.11.0+cpu", None, "x", "built without CUDA"),
    ("2.99.0+cu130", "13.0", " ", "tried are 2.6 to 2.15"),
    ("2.3.1+cu121", "12.1", " ", "tried are 2.6 to 2.15"),
])
def test_the_pytorch_of_the_program_is_judged_without_its_import(built, tmp_path, driver, torch_of, torch,
                                                                cuda, mark, word):
    env = {**driver(13000), **torch_of(torch, cuda)}
    status, text = said("doctor", "--", runs.python(), env=env, cwd=tmp_path)
    line = line_of("PyTorch", text)
    assert status == (mark == "x") and line[0] == mark and torch in line and word in line


def test_the_versions_it_names_are_those_that_are_tested_and_read(built, tmp_path, driver, torch_of):
    """Three places know them: the command, the tests under other versions, and the library."""
    env = {**driver(13000), **torch_of("2.99.0+cu130", "13.0")}
    line = line_of("PyTorch", said("doctor", "--", runs.python(), env=env, cwd=tmp_path)[1])
    first, last = (version.rpartition(".")[0] for version in (OLDEST, NEWEST))
    assert f"tried are {first} to {last}:" in line

    python = tmp_path / "python3.x"
    python.write_text("#!/bin/sh\necho cpython 3 99 0 0; echo 2.11.0 13.0\n")
    python.chmod(0o755)
    line = line_of("Python", said("doctor", "--", python, env=driver(13000), cwd=tmp_path)[1])
    known = re.search(r"memtrace knows (3\.\d+ to 3\.\d+)", line)[1]
    library = (runs.ROOT / "interpose" / "sight" / "python" / "layout.h").read_text()
    assert f'#define MEMTRACE_PYTHONS "{known}"' in library
    assert known.endswith(f"to {PYTHONS[-1]}")


@pytest.mark.parametrize(("answer", "word"), [
    ("cpython 3 16 0 0", "memtrace knows 3.9 to 3.15"), ("cpython 3 8 18 0", "memtrace knows"),
    ("pypy 3 11 7 0", "not CPython"), ("cpython 3 13 1 1", "without the GIL"),
])
def test_a_python_without_stacks(built, tmp_path, driver, answer, word):
    python = tmp_path / "python3.x"
    python.write_text(f"#!/bin/sh\necho {answer}; echo 2.11.0 13.0\n")
    python.chmod(0o755)
    status, text = said("doctor", "--", python, "train.py", env=driver(13000), cwd=tmp_path)
    line = line_of("Python", text)
    assert status == 0 and line[0] == "!" and word in line and "without the lines of Python" in line
    assert "but for what is marked !" in text.splitlines()[-1]


@pytest.mark.parametrize(("command", "word"), [
    (["docker", "run", "image", "python"], "in the image"), (["ssh", "node", "python"], "another machine"),
    (["sudo", "python"], "takes LD_PRELOAD away"), (["no-such-program"], "is not there"),
])
def test_what_a_preload_does_not_reach(built, tmp_path, driver, command, word):
    status, text = said("doctor", "--", *command, env=driver(13000), cwd=tmp_path)
    line = line_of("Program", text)
    assert status == 1 and line[0] == "x" and word in line


def test_a_program_without_a_linker_and_one_with_rights_of_its_own(built, tmp_path, driver):
    source = tmp_path / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", "-o", tmp_path / "static", source], check=True)
    _, text = said("doctor", "--", tmp_path / "static", env=driver(13000), cwd=tmp_path)
    assert "linked statically" in line_of("Program", text)
    if os.geteuid() != 0:
        pytest.skip("only root may make a program of somebody else's")
    other = tmp_path / "other"
    shutil.copy("/bin/true", other)
    os.chown(other, 12345, 12345)
    other.chmod(0o4755)
    _, text = said("doctor", "--", other, env=driver(13000), cwd=tmp_path)
    assert "ignores LD_PRELOAD" in line_of("Program", text)


def test_a_folder_that_cannot_be_written(built, tmp_path, driver):
    status, text = said("doctor", "--output", "/proc/traces", env=driver(13000), cwd=tmp_path)
    assert status == 1 and "--output" in line_of("Traces", text) and line_of("Traces", text)[0] == "x"
    done = subprocess.run([runs.memtrace(), "run", "--output", "/proc/traces", "--", "true"], check=False,
                          env=runs.environment(), capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "--output" in done.stderr


def test_a_folder_that_is_not_there_yet_is_not_made(built, tmp_path, driver):
    _, text = said("doctor", "--output", tmp_path / "new" / "folder", env=driver(13000))
    assert f"{tmp_path}, " in line_of("Traces", text)
    assert not (tmp_path / "new").exists()


def test_modes_and_rows_that_are_off(built, tmp_path, driver):
    _, text = said("doctor", "--mode", "minimal", env={**driver(13000), "MEMTRACE": "full"}, cwd=tmp_path)
    assert "minimal: allocations, CUDA calls and Python stacks" in line_of("Mode", text)
    _, text = said("doctor", env={**driver(13000), "MEMTRACE_CENSUS": "0"}, cwd=tmp_path)
    assert "what keeps memory alive (MEMTRACE_CENSUS=0)" in line_of("Mode", text)
    _, text = said("doctor", env={**driver(13000), "MEMTRACE": "most"}, cwd=tmp_path)
    assert "none of minimal, standard and full" in line_of("Mode", text)
    status, text = said("doctor", env={**driver(13000), "MEMTRACE_DISABLE": "1"}, cwd=tmp_path)
    assert status == 1 and "unset it" in line_of("Mode", text)
    _, text = said("doctor", env={**driver(13000), "LD_PRELOAD": "libm.so.6"}, cwd=tmp_path)
    assert "libm.so.6, which stays" in line_of("LD_PRELOAD", text)


def said_by_run(*arguments, env, cwd) -> list[str]:
    done = subprocess.run([runs.memtrace(), "run", *map(str, arguments)], env=runs.environment(env), cwd=cwd,
                          capture_output=True, text=True, timeout=60, check=False)
    return done.stderr.splitlines()


def test_run_says_in_one_line_what_it_will_record(built, tmp_path, driver, torch_of):
    env = {**driver(13000), **torch_of("2.11.0+cu130", "13.0")}
    first, *_ = said_by_run("--", runs.python(), "-c", "", env=env, cwd=tmp_path)
    assert first == ("memtrace: records allocations, CUDA calls, Python stacks, names, autograd, steps, samples, "
                     f"censuses into {tmp_path}")
    first, *_ = said_by_run("--mode", "minimal", "--", runs.python(), "-c", "", env=env, cwd=tmp_path)
    assert first == f"memtrace: records allocations, CUDA calls and Python stacks into {tmp_path}"
    first, *_ = said_by_run("--", runs.python(), "-c", "", env={**env, "MEMTRACE_AUTOGRAD": "0"}, cwd=tmp_path)
    assert "; Mode: standard, without " in first and "MEMTRACE_AUTOGRAD=0" in first
    first, *_ = said_by_run("--", "sh", "-c", "true", env={"MEMTRACE_DISABLE": "1", **env}, cwd=tmp_path)
    assert first == "memtrace: not recorded: Mode: MEMTRACE_DISABLE is set; unset it to record"


def test_the_mode_reaches_the_program(built, tmp_path, driver):
    done = subprocess.run([runs.memtrace(), "run", "--mode", "full", "--", "printenv", "MEMTRACE"], cwd=tmp_path,
                          env=runs.environment({"MEMTRACE": "minimal"}), capture_output=True, text=True, check=True)
    assert done.stdout == "full\n"
