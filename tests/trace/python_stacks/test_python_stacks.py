# SPDX-License-Identifier: Apache-2.0
"""Python stacks read without the GIL, against what each CPython of this machine says itself.

MEMTRACE_BUILD is the build folder (default build/release).
"""
import json
import os
import pathlib
import subprocess

import interpreters
import probes
import pytest

HERE = pathlib.Path(__file__).resolve().parent
PROBE = probes.path_of("memtrace_python_probe")
MISTAKEN_PROBE = probes.path_of("memtrace_python_probe_mistaken")


@pytest.fixture(autouse=True, scope="module")
def built_probes():
    probes.need("memtrace_python_probe", "memtrace_python_probe_mistaken")


def test_one_interpreter_at_least_is_tested():
    assert any(interpreters.find(version) for version in interpreters.VERSIONS)


@pytest.fixture(params=interpreters.CASES)
def interpreter(request):
    path = interpreters.find(request.param)
    if path is None:
        pytest.skip("no Python %s on PATH or in pyenv" % request.param)
    return path


def run(interpreter, script, probe=PROBE, options=(), **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MEMTRACE_", "PYTHON"))}
    return subprocess.run(
        [interpreter, *options, str(HERE / script), str(probe)], capture_output=True, text=True,
        env={**clean, **environment}, timeout=300)


def results(finished):
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def test_every_frame_equals_the_interpreters_own(interpreter):
    finished = run(interpreter, "scenarios.py")
    answer = results(finished)
    assert answer["status"] == "on"
    assert finished.stderr == ""
    assert answer["wrong"] == []
    assert answer["comparisons"] > 10_000
    assert all(count > 0 for count in answer["counts"].values()), answer["counts"]
    assert interpreters.find(answer["version"].rpartition(".")[0]) == interpreter


def test_frames_are_right_before_the_check_has_run(interpreter):
    for _ in range(5):
        answer = results(run(interpreter, "unchecked.py"))
        if answer["status"] is None:
            break
    else:
        pytest.skip("this machine was so slow, five times, that the helper was due")
    assert answer["wrong"] == []
    assert answer["comparisons"] >= 400


def test_the_helper_checks_when_the_main_thread_is_blocked(interpreter):
    answer = results(run(interpreter, "blocked_main.py"))
    assert answer == {"status": "on", "threads_after": answer["threads_before"],
                      "threads_before": answer["threads_before"]}


@pytest.mark.parametrize("mistake", ["name", "file", "first_line", "instruction", "text"])
def test_a_wrong_layout_switches_stacks_off(interpreter, mistake):
    finished = run(interpreter, "status.py", MISTAKEN_PROBE, MEMTRACE_TEST_MISTAKE=mistake)
    answer = results(finished)
    assert answer["frames"] == []
    assert answer["warning"]
    assert answer["status"] in (
        "they differ from this Python's own",
        "a frame was not what it should be",
        "this Python's objects have another layout",  # 3.13 publishes some offsets
    )
    assert answer["more_news"] is None


def test_the_mistaken_library_is_right_without_a_mistake(interpreter):
    assert results(run(interpreter, "status.py", MISTAKEN_PROBE))["status"] == "on"


@pytest.mark.parametrize("options", [["-I"], ["-S"], ["-O"], ["-X", "dev"]])
def test_interpreter_options_change_nothing(interpreter, options):
    finished = run(interpreter, "status.py", options=options)
    answer = results(finished)
    assert (answer["status"], answer["warning"], finished.stderr) == ("on", False, "")
    assert [frame[1] for frame in answer["frames"]] == ["leaf", "middle", "main", "<module>"]


def test_zero_switches_stacks_off_without_a_warning(interpreter):
    finished = run(interpreter, "status.py", MEMTRACE_PYTHON_STACKS="0")
    answer = results(finished)
    assert (answer["frames"], answer["warning"], finished.stderr) == ([], False, "")
    assert answer["status"] == "MEMTRACE_PYTHON_STACKS=0"


def test_a_number_limits_the_depth_and_the_stack_says_so(interpreter):
    frames = results(run(interpreter, "status.py", MEMTRACE_PYTHON_STACKS="2"))["frames"]
    assert [frame[1] for frame in frames] == ["leaf", "middle", "<outer frames omitted>"]


def test_the_program_sees_nothing_of_the_check(interpreter):
    """Reference counts, exceptions, tracers, and a handler's exception raised in the check."""
    finished = run(interpreter, "unseen.py")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.splitlines()[-1] == "unseen"


def test_a_forked_child_and_deep_recursion_and_finalisation_survive(interpreter):
    finished = run(interpreter, "endings.py")
    assert finished.returncode == 7, finished.stderr
    assert finished.stdout.splitlines() == ["deep", "child right", "child ended 0", "at exit"]


@pytest.mark.parametrize("mode", ["local", "cell"])
def test_the_running_modules_are_read_from_the_frames(interpreter, mode):
    answer = results(run(interpreter, "modules.py", MEMTRACE_TEST_SELF=mode))
    assert answer["wrong"] == []
    assert answer["comparisons"] > 1000
    assert all(count > 0 for count in answer["counts"].values()), answer["counts"]


def test_other_pythons_are_refused_in_one_sentence():
    for version in ("3.8", "3.7", "3.16"):
        path = interpreters.find(version)
        if path is None:
            continue
        answer = results(run(path, "status.py"))
        assert answer["status"] == "only Python 3.9 to 3.15 is supported"
        assert answer["frames"] == [] and answer["warning"]
        return
    pytest.skip("no Python before 3.9 or after 3.15")
