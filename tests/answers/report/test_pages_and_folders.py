# SPDX-License-Identifier: Apache-2.0
"""A page whose file is not named, and folders that hold folders with traces, or nothing yet."""

import shutil
import subprocess
import time

import pytest

import runs


@pytest.fixture
def here(examples, tmp_path):
    """A working directory with the traces of two runs."""
    for name in ("traces", "before"):
        (tmp_path / name).mkdir()
        shutil.copy(examples / "clean.mtrace", tmp_path / name / f"{name}.mtrace")
    return tmp_path


@pytest.mark.parametrize("line", [
    ["report", "--html", "traces"], ["report", "traces", "--html"], ["report", "--html", "--force", "traces"],
    ["report", "--html", "traces/traces.mtrace"], ["report", "traces", "--html", "--by", "site"],
    ["diff", "before", "traces", "--html"], ["diff", "--html", "before", "traces"],
])
def test_a_page_that_is_not_named_gets_a_name_which_is_said(here, line):
    done = runs.memtrace_says(*line, cwd=here)
    page = here / f"memtrace-{line[0]}.html"
    assert done.returncode == 0, done.stderr
    assert f"wrote {page.name} (" in done.stderr and done.stdout
    assert page.read_text().startswith("<!") and sorted(one.name for one in here.iterdir()) == sorted(
        ["before", "traces", page.name])


def test_a_page_that_is_there_stays_unless_forced(here):
    page = here / "memtrace-report.html"
    page.write_text("mine")
    refused = runs.memtrace_says("report", "traces", "--html", cwd=here)
    assert refused.returncode == 1 and not refused.stdout and "--force to replace it" in refused.stderr
    assert page.read_text() == "mine"
    assert runs.memtrace_says("report", "traces", "--html", "--force", cwd=here).returncode == 0
    assert page.read_text() != "mine"


def test_a_named_page_and_standard_output_are_as_they_were(here):
    assert runs.memtrace_says("report", "--html", "page.html", "traces", cwd=here).returncode == 0
    assert (here / "page.html").exists()
    assert runs.memtrace_says("report", "--html", "-", "traces", cwd=here).stdout.startswith("<!")


def test_fit_refuses_a_page_that_is_there_before_its_dry_runs(here):
    (here / "memtrace-fit.html").write_text("mine")
    done = runs.memtrace_says("fit", "--gpu", "t4", "--batch", "--batch-size {}", "--html", "--", "true", cwd=here)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "--force to replace it" in done.stderr


@pytest.mark.parametrize("name", ["report", "replay", "scrub", "audit"])
def test_a_folder_of_folders_names_them_and_the_command_to_read_one(examples, tmp_path, name):
    for number in range(7):
        folder = tmp_path / "runs" / f"run{number}"
        folder.mkdir(parents=True)
        shutil.copy(examples / "clean.mtrace", folder)
    done = runs.memtrace_says(name, "runs", cwd=tmp_path)
    assert done.returncode == 1 and not done.stdout and done.stderr.count("\n") == 1
    assert "but in run0, run1, run2, run3, run4 and 2 more" in done.stderr
    assert done.stderr.endswith(f"read one: memtrace {name} runs/run0\n")


def test_a_single_folder_below_is_named(here):
    shutil.rmtree(here / "before")
    done = runs.memtrace_says("check", here, "--no-leaks")
    assert done.returncode == 2 and f"but in traces; read one: memtrace check {here}/traces" in done.stderr


@pytest.mark.parametrize("served", [[], ["--serve", "--html"]])
def test_live_waits_for_the_first_trace_of_a_directory(examples, tmp_path, served):
    (tmp_path / "out").mkdir()
    line = [runs.memtrace(), "live", *served, "out"]
    with subprocess.Popen(line, cwd=tmp_path, env=runs.environment(), text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as one:
        told = one.stderr.readline()
        assert told == "memtrace: waiting for a recording to start in out; Ctrl-C ends it\n"
        time.sleep(0.5)
        assert one.poll() is None
        shutil.copy(examples / "clean.mtrace", tmp_path / "out" / "part")
        (tmp_path / "out" / "part").rename(tmp_path / "out" / "clean.mtrace")
        if served:
            assert one.stdout.readline().startswith("http://127.0.0.1:")
            one.terminate()
            return
        shown, _ = one.communicate(timeout=60)  # it is over already
    assert one.returncode == 0 and "memtrace live" in shown


def test_live_once_does_not_wait(tmp_path):
    done = runs.memtrace_says("live", "--once", tmp_path)
    assert done.returncode == 1 and "no traces in this directory" in done.stderr
