# SPDX-License-Identifier: Apache-2.0
"""memtrace estimate against programs that are really run; make_results.py runs all cases."""

import json
import subprocess

import pytest

import estimated_runs
import runs

ALLOWED = 0.025  # of the peak: the worst row of RESULTS.md is 2.4 %


def test_estimates_are_near_what_is_measured(built, tmp_path):
    outcomes = estimated_runs.run(estimated_runs.QUICK, tmp_path)
    assert [outcome.case for outcome in outcomes] == estimated_runs.QUICK != []
    for outcome in outcomes:
        assert outcome.estimated["plan"]["parameters"] == outcome.measured["parameters"]
        assert abs(outcome.error()) <= ALLOWED, outcome.case.name


def estimate(*options: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(runs.memtrace()), "estimate", *options], capture_output=True, text=True,
                          env=runs.environment(), check=False)


@pytest.mark.parametrize("options", [
    [], ["--model", "t6"], ["--parameters", "many"], ["--parameters", "-1"], ["--parameters", "1e300"],
    ["--layers", "4"], ["--model", "gpt2", "--batch", "0"], ["--model", "gpt2", "--shard", "zero4:2"],
    ["--model", "gpt2", "--shard", "zero3"], ["--model", "gpt2", "--shard", "zero3:0"],
    ["--model", "gpt2", "--gpu", "rtx9090"], ["--model", "gpt2", "--optimizer", "adam3"],
    ["--model", "gpt2", "--precision", "int3"], ["--parameters", "7B", "--lora", "8"],
    ["--model", "gpt2", "--lora", "8", "--qlora", "8"], ["--model", "gpt2", "--layers", "3"],
    ["--model", "gpt2", "--batch", "99999999999"], ["--model", "gpt2", "--attention", "flashy"],
])
def test_nonsense_gets_one_sentence(options, built):
    outcome = estimate(*options)
    assert outcome.returncode == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("memtrace: ") and outcome.stderr.count("\n") == 1


def test_json_has_the_terms_and_the_gpus(built):
    outcome = estimate("--parameters", "770M", "--shard", "zero3:8", "--gpu", "v100-16", "a100-80", "--json", "-")
    assert outcome.returncode == 0
    document = json.loads(outcome.stdout)
    assert document["schema"] == "memtrace-estimate/1"
    terms = {term["id"]: term for term in document["terms"]}
    assert terms["weights"]["bytes"] == 770_000_000 * 4 // 8
    assert terms["optimizer_states"]["bytes"] == 770_000_000 * 8 // 8
    assert all(term["formula"] and term["source"] for term in document["terms"])
    assert [gpu["gpu"] for gpu in document["gpus"]] == ["v100-16", "a100-80"]
    assert all(gpu["largest_batch"] is None for gpu in document["gpus"])
