# SPDX-License-Identifier: Apache-2.0
"""Host memory over time: what is sampled, beside what the program itself reads of /proc, what is
concluded from it, and that the program does not notice."""

import json
from pathlib import Path

import jsonschema
import pytest

import recordings
import runs

PROGRAMS = Path(__file__).resolve().parent / "programs"
MEBIBYTE = 1 << 20
LEAKS = ("accumulating", "stepwise", "sawtooth_leak")

pytestmark = pytest.mark.usefixtures("built")


def run(name: str, output: Path | None, *arguments, **how) -> runs.Outcome:
    # Cold: a forked process has memory in common with others.
    outcome = recordings.run([runs.python(), PROGRAMS / f"{name}.py", *arguments], output, cold=True, **how)
    return outcome.expect(0)


def said(outcome: runs.Outcome, word: str) -> list[list[int]]:
    lines = [line.split() for line in outcome.stdout.decode().splitlines()]
    return [[int(number) for number in line[1:]] for line in lines if line[0] == word]


def samples(trace: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for record in runs.dump(trace, stacks=False):
        if record["kind"] == "counter" and record["name"].startswith("memtrace."):
            found.setdefault(record["name"], []).append(record["value"])
    return found


def verdicts(report: dict, subject: str) -> list[dict]:
    return [one for one in report["verdicts"] if one["subject"] == subject]


@pytest.fixture(scope="module")
def leaking(tmp_path_factory):
    """A mebibyte a step stays, beside two children."""
    folder = tmp_path_factory.mktemp("leaking")
    outcome = run("trains_beside_children", folder, MEBIBYTE, 2)
    return outcome, samples(outcome.traces[0]), runs.report(outcome.traces, folder)


def test_samples_are_what_the_kernel_says(leaking):
    outcome, found, report = leaking
    (early,), (late,) = said(outcome, "early")[0], said(outcome, "late")[0]
    resident = found["memtrace.host.rss"]
    assert len(resident) >= 12
    assert late - 2 * MEBIBYTE <= max(resident) <= report["host"]["peak_bytes"]
    assert min(resident) <= early
    # The memory that was kept between the two moments, to a page each.
    assert late - early >= 99 * MEBIBYTE
    # Nothing changes on the device in the second half.
    assert found["memtrace.device.0.used"][-1] == said(outcome, "device")[0][0]


def test_children_are_found_with_their_share(leaking):
    outcome, found, report = leaking
    assert max(found["memtrace.host.workers"]) == 2
    peaks = {worker["pid"]: worker["peak_pss_bytes"] for worker in report["host"]["workers"]}
    children = said(outcome, "child")
    assert len(children) == 2
    for process, proportional in children:
        # The share of what it has in common with others changes with what they do.
        assert peaks[process] == pytest.approx(proportional, rel=0.1)


def test_a_leak_on_the_host_is_found_with_its_rate(leaking):
    _, _, report = leaking
    (process,) = verdicts(report, "host")
    assert process["shape"] in LEAKS
    # The loop keeps a mebibyte a step; an allocator's overhead is a page.
    assert process["bytes_per_step"] == pytest.approx(MEBIBYTE, rel=0.1)
    assert process["steps_to_oom"] > 0
    host = report["host"]
    assert host["limit_used_peak_bytes"] <= host["limit_bytes"]
    (children,) = verdicts(report, "host:workers")
    assert children["shape"] not in LEAKS
    schema = json.loads((runs.ROOT / "analyzer/show/json/report.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(report)


@pytest.mark.slow
def test_a_steady_host_is_not_said_to_leak(tmp_path):
    outcome = run("trains_beside_children", tmp_path, 0, 0)
    report = runs.report(outcome.traces, tmp_path)
    for subject in ("host", "host:workers", "host:pinned", "outside:0"):
        for verdict in verdicts(report, subject):
            assert verdict["shape"] not in LEAKS, verdict["summary"]
    assert report["host"]["workers"] == []


def test_the_program_notices_nothing(tmp_path):
    bare = run("looks_at_itself", None)
    traced = run("looks_at_itself", tmp_path)
    assert traced.stdout == bare.stdout
    assert b"wrong numbers 0" in traced.stdout
    assert b"threads of a forked child 1" in traced.stdout
    assert len(traced.traces) == 2  # before and after exec
    for trace in traced.traces:
        assert samples(trace)["memtrace.host.rss"]


def test_sampling_can_be_switched_off(tmp_path):
    outcome = run("looks_at_itself", tmp_path, "once", env={"MEMTRACE_SAMPLING": "0"})
    assert samples(outcome.traces[0]) == {}
    report = runs.report(outcome.traces, tmp_path)
    assert report["host"]["limit_bytes"] is None
    assert report["host"]["peak_bytes"] is None
