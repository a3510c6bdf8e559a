# SPDX-License-Identifier: Apache-2.0
"""The report's categories of a real program's memory, beside what the program knows of itself."""

import json
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

import programs
import recordings
import runs

SCHEMA = json.loads((runs.ROOT / "analyzer/show/json/report.schema.json").read_text())


def record(program: Path, folder: Path, **how) -> tuple[Path, str]:
    done = recordings.run([runs.python(), program], folder, **how).expect(0)
    trace, = done.traces
    return trace, done.stdout.decode()


def report(trace: Path, *options: str) -> dict:
    printed = subprocess.run(
        [runs.memtrace(), "report", trace, "--json", "-", *options], capture_output=True,
        check=True, env=runs.environment(),
    )
    document = json.loads(printed.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def text(trace: Path, *options: str) -> str:
    return subprocess.run(
        [runs.memtrace(), "report", trace, *options], capture_output=True, check=True, text=True,
        env=runs.environment(),
    ).stdout


@pytest.fixture(scope="module")
def attention(built, tmp_path_factory) -> tuple[Path, dict, dict]:
    trace, printed = record(programs.path("attention_amp"), tmp_path_factory.mktemp("attention"))
    return trace, json.loads(printed), report(trace, "--blocks", "--at", "step:2/optimizer")


@pytest.fixture(scope="module")
def by_hand(built, tmp_path_factory) -> Path:
    return record(programs.path("sgd_by_hand"), tmp_path_factory.mktemp("by_hand"))[0]


def by_category(rows: list[dict]) -> dict[str, int]:
    return {row["category"]: row["bytes"] for row in rows}


def test_every_list_sums_to_the_total(attention):
    device, = attention[2]["devices"]
    assert device["at_peak"]["allocated_bytes"] == device["peak_allocated_bytes"]
    for moment in (device["at_peak"], device["at_moment"]):
        total = moment["allocated_bytes"]
        assert sum(row["bytes"] for row in moment["categories"]) == total
        assert sum(row["total_bytes"] for row in moment["modules"]) == total
        recorded = total - moment["unattributed_bytes"]
        assert sum(row["bytes"] for row in moment["call_sites"]) == recorded
        assert sum(row["bytes"] for row in moment["blocks"]) == recorded
        for row in moment["categories"]:
            assert sum(row["evidence_bytes"].values()) == row["bytes"]
            assert sum(row["rules"].values()) + row["evidence_bytes"]["unknown"] == row["bytes"]
        for block in moment["blocks"]:
            assert moment["call_sites"][block["call_site"]]["category"] == block["category"]
    for phase in device["phases"]:
        assert sum(by_category(phase["categories"]).values()) == phase["peak_allocated_bytes"]
    assert max(phase["peak_allocated_bytes"] for phase in device["phases"]) == (
        device["peak_allocated_bytes"]
    )


def test_the_peak_is_what_the_program_says(attention):
    _, truth, document = attention
    device, = document["devices"]
    assert device["peak_allocated_bytes"] == truth["peak"]
    found = by_category(device["at_peak"]["categories"])
    for category in ("weights", "buffers", "optimizer_states"):
        assert found[category] == truth[category], category


def test_another_moment_than_the_peak(attention):
    _, truth, document = attention
    moment = document["devices"][0]["at_moment"]
    assert (moment["phase"], moment["step"]) == ("optimizer", 2)
    assert by_category(moment["categories"])["gradients"] == truth["gradients"]
    again = report(attention[0], "--at", f"event:{moment['event']}")["devices"][0]["at_moment"]
    del moment["blocks"]
    assert again == moment


def test_parameters_are_part_of_their_categories(attention):
    _, truth, document = attention
    device, = document["devices"]
    rows = device["at_peak"]["parameters"]
    assert {row["name"] for row in rows} == {
        "table.weight", *(f"{block}.{layer}.{kind}" for block in ("plain", "recomputed")
                          for layer in ("mixed", "out") for kind in ("weight", "bias")),
    }
    assert [row["name"] for row in rows if not row["trainable"]] == ["table.weight"]
    for kind in ("weights", "optimizer_states"):
        assert sum(row[f"{kind}_bytes"] for row in rows) == truth[kind]
    training = document["processes"][0]["training"]
    for kind in ("parameter_bytes", "trainable_bytes"):
        assert training[kind] == truth[kind]


def test_modules_steps_and_how_it_was_trained(attention):
    _, truth, document = attention
    device, = document["devices"]
    modules = {row["path"]: row for row in device["at_peak"]["modules"]}
    assert modules["table"]["type"] == "Embedding"
    assert modules["plain.mixed"]["parent"] is not None
    assert modules["plain"]["attention_scores_bytes"] >= truth["scores"]
    assert modules["plain.out"]["attention_scores_bytes"] == 0
    training = document["processes"][0]["training"]
    assert training["autocast"]
    assert [module["path"] for module in training["checkpointed_modules"]] == ["recomputed"]
    steps = document["steps"]
    assert (steps["count"], steps["boundary"]) == (4, "optimizer")
    assert max(step["peak_allocated_bytes"] for step in steps["series"][0]["steps"]) == (
        device["peak_allocated_bytes"]
    )


def test_backward_memory_is_named_by_its_forward_line(attention):
    sites = attention[2]["devices"][0]["at_peak"]["call_sites"]
    softmax, = (site for site in sites if site["node"] == "SoftmaxBackward0")
    assert softmax["frames"] == []
    line = softmax["forward_frames"][0]
    assert Path(line["file"]).name == "attention_amp.py" and line["user"]
    source = (programs.path("attention_amp")).read_text().splitlines()
    assert "softmax" in source[line["line"] - 1]
    assert f"backward of attention_amp.py:{line['line']}" in text(attention[0], "--by", "site")


def test_the_overview_says_what_matters(attention):
    printed = text(attention[0])
    assert len(printed.splitlines()) <= 36
    for words in ("in the backward pass of step", "attention scores", "recomputed",
                  "checkpointing of Model.recomputed", "of parameters trainable (34.2 %)", "AMP on",
                  "Highest in each phase: forward"):
        assert words in printed, words


@pytest.mark.parametrize(("kind", "words"), [
    ("category", "by rule kept_by_autograd"), ("module", "plain (Attention)"),
    ("site", "attention_amp.py"), ("phase", "optimizer"), ("parameter", "Model.table.weight"),
    ("step", "evaluation"),
])
def test_every_view_shows_its_rows(attention, kind, words):
    printed = text(attention[0], "--by", kind)
    assert words in printed and "cuda:0" in printed.splitlines()[0]


def test_steps_that_nothing_marks_are_inferred_and_the_report_says_so(by_hand):
    steps = report(by_hand)["steps"]
    assert (steps["count"], steps["boundary"]) == (12, "inferred")
    assert 0.7 < steps["confidence"] < 1
    source = (programs.path("sgd_by_hand")).read_text().splitlines()
    assert "a step begins" in source[steps["begins_at"][0]["line"] - 1]
    assert "Steps: 12, inferred" in text(by_hand)
    assert "0" == text(by_hand, "--by", "step").splitlines()[2].split()[0]


def test_without_the_agent_the_report_says_so_and_knows_what_it_can(built, tmp_path):
    trace, printed = record(programs.path("gan"), tmp_path, env={"MEMTRACE_AGENT": "0"})
    document = report(trace)
    steps = int(re.match(r"gan: (\d+) steps", printed).group(1))
    assert (document["steps"]["count"], document["steps"]["boundary"]) == (steps, "inferred")
    assert document["run"]["agent"] == "MEMTRACE_AGENT=0"
    assert document["devices"][0]["at_peak"]["parameters"] == []
    categories = document["devices"][0]["at_peak"]["categories"]
    assert {"weights", "gradients", "optimizer_states"} <= {row["category"] for row in categories}
    assert all(row["evidence"] != "annotated" for row in categories if row["category"] == "weights")
    assert "are not known: MEMTRACE_AGENT=0" in text(trace)


def test_what_is_asked_wrongly_gets_one_sentence(by_hand):
    for options, remedy in ((["--at", "peak"], "event:1234"), (["--by", "colour"], "category")):
        done = subprocess.run(
            [runs.memtrace(), "report", by_hand, *options], capture_output=True, text=True,
            env=runs.environment(), check=False,
        )
        assert done.returncode == 2
        assert remedy in done.stderr and len(done.stderr.splitlines()) == 1
