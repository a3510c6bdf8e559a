# SPDX-License-Identifier: Apache-2.0
"""memtrace.h in C and C++ programs: without memtrace, without a GPU, and recorded."""

import subprocess

import pytest

import records
import runs

pytestmark = pytest.mark.usefixtures("built")


def run_idle(compiled, folder, variables):
    """Without the simulated GPU, which the program does not use."""
    libraries = str(compiled("libcudart.so.13").parent)
    return subprocess.run([compiled("told"), "idle"], capture_output=True, cwd=folder, check=True,
                          env=runs.environment({"LD_LIBRARY_PATH": libraries, **variables}))


def test_without_memtrace_nothing_happens(compiled, tmp_path):
    outcome = run_idle(compiled, tmp_path, {})
    assert outcome.stdout == b"active 0\n"
    assert outcome.stderr == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("variables", "active"), [({}, 1), ({"MEMTRACE_DISABLE": "1"}, 0)])
def test_without_a_gpu_there_is_no_trace(compiled, tmp_path, variables, active):
    outcome = run_idle(compiled, tmp_path, {"LD_PRELOAD": str(runs.library()), **variables})
    assert outcome.stdout == f"active {active}\n".encode()
    assert outcome.stderr == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("program", ["told", "told_no_pie"])
def test_what_a_program_tells(compiled, tmp_path, program):
    outcome = runs.run([compiled(program), "cuda", compiled("plugin.so")], tmp_path)
    told = records.only_trace(outcome)
    assert outcome.stdout.startswith(b"active 1\n")
    # A phase that was over before the GPU was used is not there; one that was open then is.
    assert records.phases(told) == [
        ("begin", "open before"), *records.nested("inner"), *records.nested("n" * 1000),
        *records.nested("plugin"), ("end", "open before"),
    ]
    address = int(records.said(outcome, "address")[0])
    assert [(record["address"], record["detail"], record["name"])
            for record in records.storages(told, "user")] == [
        (address, "a cache", 'keys "and" values'), (address, "weights", ""),
    ]
    assert [(record["source"], record["name"]) for record in told if record["kind"] == "step"] == [
        ("user", "first"), ("user", ""),
    ]
    assert records.counters(told) == [
        ("tokens", -12.5),
    ]
    assert not [record for record in told if record["kind"] == "census"]
    expected = [record for record in told if record["kind"] == "expectation"]
    assert [(record["what"], record["why"], record["said_at"]) for record in expected] == [
        ("cache.keys", "as large as the data", 17), ("told.c:*", "", 0),
    ]
    assert expected[0]["said_in"].endswith("told.c") and expected[1]["said_in"] == ""


def test_phases_belong_to_their_thread_and_end_with_their_scope(compiled, tmp_path):
    told = records.only_trace(runs.run([compiled("scopes")], tmp_path))
    by_thread: dict[int, list] = {}
    for record in told:
        if record["kind"] == "phase":
            by_thread.setdefault(record["thread"], []).append((record["action"], record["name"]))
    main, other = sorted(by_thread.values(), key=len, reverse=True)
    assert other == records.nested("other thread")
    deep = [str(level) for level in range(70, 70 - 64, -1)]  # as deep as is recorded
    assert main == [
        *records.nested("main thread"), *records.nested("raises"), *records.nested(*deep),
        *records.nested("last"),
    ]
    # They overlapped: neither thread's phase ended the other's.
    order = [name for action, name in records.phases(told) if "thread" in name]
    assert order == ["main thread", "other thread", "main thread", "other thread"]


def test_open_phases_are_in_a_forked_childs_trace_too(tmp_path):
    program = (
        "import os, memtrace, torch\n"
        "with memtrace.phase('outer'):\n"
        "    if os.fork() == 0:\n"
        "        with memtrace.phase('child'):\n"
        "            torch.ones(5, device='cuda')\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
        "    torch.ones(7, device='cuda')\n"
    )
    outcome = runs.run([runs.python(), "-c", program], tmp_path, env=records.PACKAGE).expect(0)
    found = sorted(records.phases(runs.dump(trace, stacks=False)) for trace in outcome.traces)
    assert found == [
        [("begin", "outer"), ("begin", "child"), ("end", "child")],
        records.nested("outer"),
    ]
