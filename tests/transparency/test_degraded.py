# SPDX-License-Identifier: Apache-2.0
"""Where there is less to learn from than usual, recording goes on with what there is, the program
does the same, and the report says what is missing and why."""

import subprocess

import pytest

import runs
from observed import facts, script
from pairs import counted, events, run_both, without_our_lines

pytestmark = pytest.mark.usefixtures("built")

# What a PyTorch may lack that memtrace asks for; its name is to be said.
LACKS = ["register_optimizer_step_pre_hook",
         pytest.param("register_optimizer_step_post_hook", marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def bare_training(built):
    return runs.run(script("another_torch"), None).expect(0)


def train(tmp_path, bare: runs.Outcome, *arguments: str, **how):
    """The one trace, and its lines, of a training that says what the bare one says."""
    traced = runs.run(script("another_torch", *arguments), tmp_path / "trace", **how).expect(0)
    assert traced.stdout == bare.stdout
    assert without_our_lines(traced.stderr) == without_our_lines(bare.stderr)
    assert len(traced.traces) == 1
    lines = events(traced.traces[0])
    assert counted(lines, "alloc") == int(bare.stdout.split()[0])
    return traced.traces[0], lines


def said_with_the_reason(trace, reason: str) -> str:
    """The report's own words, which must have the reason in them."""
    text = runs.report_text([trace])
    assert reason in text, text
    return text


def test_program_without_python(tmp_path):
    if runs.on_real_gpu():
        pytest.skip("links against the simulated CUDA")
    program = tmp_path / "without_python"
    subprocess.run(["c++", "-o", program, script("without_python")[1].replace(".py", ".cpp"),
                    f"-L{runs.build() / 'simulator' / 'cuda13'}", "-lmemtrace_cuda"], check=True)
    pair = run_both([str(program)], tmp_path)
    assert pair.bare.expect(0).stdout == b"1 0\n2 0\n4 0\n0\n"
    lines = events(pair.traced.traces[0])
    sizes = [line["size"] >> 20 for line in lines if line["kind"] == "cuda_call" and line.get("size")]
    assert sizes[:3] == [1, 2, 4]
    assert facts(lines).get("agent") != "on"
    said_with_the_reason(pair.traced.traces[0], "no Python")


def test_python_without_torch(tmp_path):
    pair = run_both(script("without_torch"), tmp_path)
    assert pair.bare.expect(0).stdout == b"1 0\n2 0\n4 0\n0 False\n"
    lines = events(pair.traced.traces[0])
    sizes = [line["size"] >> 20 for line in lines if line["kind"] == "cuda_call" and line.get("size")]
    assert sizes[:3] == [1, 2, 4]
    assert facts(lines).get("agent") != "on"
    said_with_the_reason(pair.traced.traces[0], "PyTorch")


def test_agent_switched_off(tmp_path, bare_training):
    trace, lines = train(tmp_path, bare_training, env={"MEMTRACE_AGENT": "0"})
    assert "MEMTRACE_AGENT" in facts(lines)["agent"]
    assert counted(lines, "step") == 0
    said_with_the_reason(trace, "MEMTRACE_AGENT")


def test_version_that_nobody_knows(tmp_path, bare_training):
    """All that is asked for is there, so all that is said is true of it."""
    _, lines = train(tmp_path, bare_training, "version")
    assert facts(lines)["agent"] == "on"
    assert counted(lines, "step") == 3


@pytest.mark.parametrize("missing", LACKS)
def test_torch_that_lacks(missing, tmp_path, bare_training):
    trace, lines = train(tmp_path, bare_training, f"torch.optim.optimizer.{missing}")
    assert missing in facts(lines)["agent"]
    # Parameters need no hook of optimizers.
    names = {line["name"] for line in lines if line["kind"] == "storage" and line["role"] == "parameter"}
    assert "blocks.0.norm.weight" in names
    said_with_the_reason(trace, missing)


def test_objects_that_notice_or_fail_when_looked_at(tmp_path):
    pair = run_both(script("hostile"), tmp_path, env={"PYTHONHASHSEED": "0"})
    assert b"watched: [" in pair.bare.expect(0).stdout
    lines = events(pair.traced.traces[0])
    assert facts(lines)["agent"] == "on"
    # Those that can be walked are named all the same.
    assert "Recursive" in {line["type"].split(".")[-1] for line in lines if line["kind"] == "module"}
