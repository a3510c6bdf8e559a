# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges of programs: PyTorch's, and every call of the interface."""

import subprocess

import pytest

import records
import runs

pytestmark = pytest.mark.usefixtures("built")


def test_pytorchs_ranges(tmp_path):
    outcome = records.python("nvtx_ranges", tmp_path)
    told = records.only_trace(outcome)
    assert records.phases(told, "nvtx") == [
        ("begin", "before the GPU ü"), ("begin", "inner"), ("begin", "started"), ("instant", "mark"),
        ("end", "inner"), ("end", "started"), ("end", "before the GPU ü"),
        *records.nested("context 3"),
    ]
    first = next(place for place, record in enumerate(told) if record["kind"] == "alloc")
    assert records.phases(told[:first], "nvtx") == [("begin", "before the GPU ü")]
    # The program sees what it sees without a tool.
    assert records.said(outcome, "returned") == records.said(
        records.python("nvtx_ranges", None).expect(0), "returned")


def test_every_call(compiled, tmp_path):
    outcome = runs.run([compiled("nvtx_instance")], tmp_path)
    told = records.only_trace(outcome)
    assert outcome.stdout == b"push -2\npop -2\ndifferent 1\n"
    assert records.phases(told, "nvtx") == [
        ("begin", "open before"), ("end", "open before"),
        *records.nested("push a", "push w é€\U0001f600", "push ex", "", "", ""),
        ("instant", "mark a"), ("instant", "mark w"),
        ("begin", "one"), ("begin", "two"), ("end", "one"), ("end", "two"),
        ("begin", "my domain: registered"), ("instant", "my domain: wide"),
        ("end", "my domain: registered"), *records.nested("my domain: wide"),
    ]


@pytest.mark.parametrize(("variables", "traces"), [({"MEMTRACE_NVTX": "0"}, 1), ({"MEMTRACE_DISABLE": "1"}, 0)])
def test_switched_off(compiled, tmp_path, variables, traces):
    outcome = runs.run([compiled("nvtx_instance")], tmp_path, env=variables).expect(0)
    assert outcome.stdout == b"no tool\n"
    assert len(outcome.traces) == traces
    assert all(records.phases(runs.dump(trace), "nvtx") == [] for trace in outcome.traces)


def test_another_tool_stays(tmp_path):
    outcome = records.python("nvtx_ranges", tmp_path, env={"NVTX_INJECTION64_PATH": "/another/tool.so"})
    assert records.phases(records.only_trace(outcome), "nvtx") == []
    assert records.said(outcome, "tool") == ["/another/tool.so"]


def test_a_range_begins_no_trace(tmp_path):
    program = "from torch.cuda import nvtx; nvtx.range_push('a'); nvtx.mark('b'); nvtx.range_pop()"
    outcome = runs.run([runs.python(), "-c", program], tmp_path).expect(0)
    assert outcome.traces == []


def test_a_child_that_is_not_traced_finds_no_tool(compiled, tmp_path):
    outcome = subprocess.run(
        [compiled("nvtx_instance")], capture_output=True, cwd=tmp_path,
        env=runs.environment({"NVTX_INJECTION64_PATH": str(runs.library()),
                              "LD_LIBRARY_PATH": str(compiled("libcudart.so.13").parent)}),
    )
    assert outcome.stdout == b"no tool\n"
    assert outcome.stderr == b""


def test_the_tool_is_not_in_the_environment(compiled, tmp_path):
    """Which children inherit: those of Python by os.environ, those of C by environ."""
    program = """if True:
        import ctypes, os, subprocess
        from torch.cuda import nvtx
        ask = ctypes.CDLL(None).getenv
        ask.restype = ctypes.c_char_p
        nvtx.range_push("a")
        print(os.environ.get("NVTX_INJECTION64_PATH"), nvtx.range_pop())
        os.environ["NVTX"] = "set later"
        print(ask(b"NVTX"), ask(b"NVTX_INJECTION64_PATHS"), ask(b"NVTX_INJECTION64_PATH") is not None)
        without = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        for how in ({}, {"env": without}):
            subprocess.run(["sh", "-c", "env | grep -c NVTX_INJECTION64_PATH; echo children"], **how)
    """
    outcome = runs.run([runs.python(), "-u", "-c", program], tmp_path).expect(0)
    without_a_tool = -2
    assert outcome.stdout.decode().splitlines() == [
        f"None {without_a_tool}", "b'set later' None True", "0", "children", "0", "children"]
