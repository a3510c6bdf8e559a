# SPDX-License-Identifier: Apache-2.0
"""examples/ci: the commands of its workflow, read out of the file, on the example and on a greedier one."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

import runs

EXAMPLE = runs.ROOT / "examples" / "ci"
STEPS = yaml.safe_load((EXAMPLE / ".github" / "workflows" / "memory.yml").read_text())["jobs"]["memory"]["steps"]
COMMANDS = {step["name"]: step for step in STEPS if "run" in step}


def variables(folder: Path) -> dict[str, str]:
    """As after the step that installs: `memtrace` and `python` on the PATH, the plugin found by pytest."""
    tools = folder / "bin"
    tools.mkdir()
    for name, target in (("memtrace", runs.memtrace()), ("python", Path(runs.python()))):
        (tools / name).write_text(f'#!/bin/sh\nexec "{target}" "$@"\n')
        (tools / name).chmod(0o755)
    return runs.environment({"PATH": f"{tools}:{os.environ['PATH']}", "PYTEST_PLUGINS": "memtrace.pytest_plugin",
                             "PYTHONPATH": str(runs.ROOT / "python")})


def carry_out(folder: Path, batch: int) -> dict[str, subprocess.CompletedProcess]:
    """The workflow's steps in a checkout whose branch has this batch; the base has the example's own."""
    checkout = folder / "checkout"
    shutil.copytree(EXAMPLE, checkout)
    (base,) = (step["with"]["path"] for step in STEPS if step.get("name") == "What it is compared with")
    shutil.copytree(EXAMPLE, checkout / base)
    program = (checkout / "train.py").read_text()
    assert program.count("BATCH = 64\n") == 1
    (checkout / "train.py").write_text(program.replace("BATCH = 64\n", f"BATCH = {batch}\n"))
    env, done = {**variables(folder), "GITHUB_WORKSPACE": str(checkout)}, {}
    for name, step in COMMANDS.items():
        if name != "Install":
            done[name] = subprocess.run(
                ["bash", "-e", "-c", step["run"]], cwd=checkout / step.get("working-directory", "."), env=env,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    return done


@pytest.fixture(scope="module")
def unchanged(built, tmp_path_factory):
    return carry_out(tmp_path_factory.mktemp("unchanged"), 64)


@pytest.fixture(scope="module")
def doubled(built, tmp_path_factory):
    return carry_out(tmp_path_factory.mktemp("doubled"), 128)


def said(done: subprocess.CompletedProcess) -> str:
    return f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"


def test_the_install_step_has_what_the_example_imports():
    assert "requirements.txt" in COMMANDS["Install"]["run"] and "MEMTRACE_WHEEL" in COMMANDS["Install"]["run"]
    wanted = re.findall(r"^[a-z][\w-]*", (EXAMPLE / "requirements.txt").read_text(), re.M)
    assert {"torch", "pytest"} <= set(wanted)


def test_steps_that_are_run():
    assert list(COMMANDS) == ["Install", "Record the base", "Record", "Check", "The report as a page", "Tests with limits"]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "Install"])
def test_the_example_passes(unchanged, name):
    assert unchanged[name].returncode == 0, said(unchanged[name])


@pytest.mark.parametrize("name", ["Record the base", "Record", "The report as a page"])
def test_a_greedier_one_is_recorded_as_ever(doubled, name):
    assert doubled[name].returncode == 0, said(doubled[name])


def test_a_greedier_one_fails_its_check_and_the_line_is_named(doubled):
    done = doubled["Check"]
    assert done.returncode == 1, said(done)
    told = re.search(r"^::error file=train\.py,line=(\d+)", done.stdout, re.M)
    assert told, said(done)
    line = (EXAMPLE / "train.py").read_text().splitlines()[int(told.group(1)) - 1]
    assert "model(pictures)" in line


def test_a_greedier_one_fails_its_test(doubled):
    done = doubled["Tests with limits"]
    assert done.returncode == 1 and "1 failed" in done.stdout, said(done)
    assert "FAILED test_memory.py::test_a_step_of_the_training" in done.stdout
    assert re.search(r"peak of [\d.]+ MiB .* more than the limit of 230 MiB", done.stdout), said(done)
    assert re.search(r"most of it: [\d.]+ MiB at .*train\.py:\d+ train_step", done.stdout), said(done)
