# SPDX-License-Identifier: Apache-2.0
"""A recording has one answer, whichever command is asked: the report, its text and page, check, diff, live, the tables of a
fleet and the Python model, over all programs of the corpus."""

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

import memtrace
import runs
from corpus import CORPUS
from judged import Run, recording_of
from memtrace.fleet import lists

HEADLINES = ("device", "reserved", "outside", "phase", "host")


@pytest.fixture(scope="module")
def answers(built, request):
    """What each command says of each program that is asked for, by its name."""
    wanted = [item.callspec.params["truth"] for item in request.session.items
              if item.module is request.module and hasattr(item, "callspec")]
    pool = ThreadPoolExecutor(os.cpu_count())
    yield {truth.name: pool.submit(asked, Run(truth, truth.steps)) for truth in wanted}
    pool.shutdown(cancel_futures=True)


def said_as_json(*arguments: object) -> dict:
    said = runs.memtrace_says(*arguments, "--json", "-")
    assert said.stdout.startswith("{"), said.stderr
    return json.loads(said.stdout)


def asked(run: Run) -> dict:
    traces = recording_of(run).traces
    checked = runs.memtrace_says("check", "--no-leaks", *traces)
    return {
        "report": said_as_json("report", *traces),
        "text": runs.memtrace_says("report", *traces).stdout,
        "check": said_as_json("check", "--no-leaks", *traces),
        "status": checked.returncode,
        "github": runs.memtrace_says("check", "--no-leaks", "--github", *traces).stdout,
        "diff": said_as_json("diff", "--before", *traces, "--after", *traces),
        "live": json.loads(runs.memtrace_says("live", "--once", "--json", "-", *traces).stdout)["processes"],
        "model": memtrace.read([str(trace) for trace in traces]),
    }


def headlines(report: dict) -> dict[tuple[int, str], dict]:
    return {(one["pid"], one["subject"]): one for one in report["verdicts"]
            if one["subject"].split(":")[0] in HEADLINES}


@pytest.mark.parametrize("truth", CORPUS, ids=lambda truth: truth.name)
def test_every_command_gives_the_same_answer(answers, truth):
    said = answers[truth.name].result()
    of = headlines(said["report"])
    leaks = {subject for (_, subject), one in of.items() if one["is_leak"]}

    for one in said["check"]["findings"]:
        if one["growth"] is not None:
            verdict = of[one["process"]["pid"], one["subject"]]
            assert one["growth"]["answer"] == verdict["answer"]
            assert (one["outcome"] == "broken") == verdict["is_leak"]
    assert said["status"] == (1 if leaks else said["status"]) and (leaks or said["status"] != 1)
    assert ("::error" in said["github"]) == bool(leaks)

    for pair in said["diff"]["pairs"]:
        for one in pair["verdicts"]:
            same = {verdict["answer"] for (pid, subject), verdict in of.items() if subject == one["subject"]}
            assert one["before"]["answer"] == one["after"]["answer"] and one["before"]["answer"] in same

    for process in said["live"]:
        for device in process["devices"]:
            if device.get("growth"):
                assert device["growth"]["answer"] == of[process["pid"], f"device:{device['device']}"]["answer"]

    for process in said["report"]["processes"]:
        pid = process["run"]["pid"]
        for row in lists.verdicts(said["report"], pid):
            if row["is_headline"]:
                assert row["answer"] == of[pid, row["subject"]]["answer"]
    assert [one.answer for one in said["model"].verdicts] == [one["answer"] for one in said["report"]["verdicts"]]

    # What the terminal warns of, in lines that begin at the margin.
    warned = re.findall(r"^(?:Within each .+? )?(?:GPU|Host memory|What PyTorch reserves|Memory of GPU).* a (?:step|call)", said["text"],
                        re.MULTILINE)
    assert bool(warned) == bool(leaks), said["text"]
