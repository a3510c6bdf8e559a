# SPDX-License-Identifier: Apache-2.0
"""A recording has one answer, whichever command is asked: the report and its text, check, diff, live and the tables of a
fleet, and the copy that is made to be shared, over all programs of the corpus. The page and the Python model hold the report's own JSON."""

import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import runs
from corpus import CORPUS
from judged import Run, recording_of

sys.path.insert(0, str(runs.ROOT / "python"))

from memtrace.fleet import lists  # noqa: E402

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
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        text = runs.memtrace_says("report", *traces, "--json", folder / "report.json").stdout
        checked = runs.memtrace_says("check", "--no-leaks", "--github", *traces, "--json", folder / "check.json")
        # Its copy without the program's text, too.
        assert runs.memtrace_says("scrub", *traces, "--output", folder / "scrubbed").returncode == 0
        return {
            "report": json.loads((folder / "report.json").read_text()), "text": text,
            "check": json.loads((folder / "check.json").read_text()), "status": checked.returncode,
            "github": checked.stdout,
            "diff": said_as_json("diff", "--before", *traces, "--after", folder / "scrubbed"),
            "live": said_as_json("live", "--once", traces[0].parent)["processes"],
        }


def headlines(report: dict) -> dict[tuple[int, str], dict]:
    return {(one["pid"], one["subject"]): one for one in report["verdicts"]
            if one["subject"].split(":")[0] in HEADLINES}


def often_enough(number: int, truth) -> bool:
    """CI asks about each sixteenth program, and about all whose growth is not a device's. --all asks about all."""
    return number % 16 == 0 or truth.subject != ("device",)


@pytest.mark.parametrize("truth", [
    pytest.param(truth, id=truth.name, marks=[] if often_enough(number, truth) else pytest.mark.slow)
    for number, truth in enumerate(CORPUS)])
def test_every_command_gives_the_same_answer(answers, truth):
    said = answers[truth.name].result()
    of = headlines(said["report"])
    leaks = {subject for (_, subject), one in of.items() if one["is_leak"]}

    for one in said["check"]["checks"]:
        if one["growth"] is not None:
            verdict = of[one["process"]["pid"], one["subject"]]
            assert one["growth"]["answer"] == verdict["answer"]
            assert (one["outcome"] == "broken") == verdict["is_leak"]
    assert (said["status"] == 1) == bool(leaks)
    assert ("::error" in said["github"]) == bool(leaks)

    first = said["report"]["headline"]
    assert (first["state"] == "leaks") == bool(leaks and first["state"] != "out_of_memory")
    assert re.sub(r"\s+", " ", said["text"]).startswith(first["text"])
    assert said["check"]["headline"] == first["text"] and said["github"].startswith(f"run     {first['text']}\n")
    assert said["diff"]["before"]["headline"] == said["diff"]["after"]["headline"] == first["text"]

    for pair in said["diff"]["devices"]:
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

    # What the terminal warns of, in lines that begin at the margin. Of several processes it tells of one.
    if len(said["report"]["processes"]) > 1:
        return
    warned = re.findall(r"^(?:Within each .+? )?(?:GPU|Host memory|What PyTorch reserves|Memory of GPU).* a (?:step|call)", said["text"],
                        re.MULTILINE)
    assert bool(warned) == bool(leaks), said["text"]
