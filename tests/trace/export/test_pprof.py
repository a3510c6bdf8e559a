# SPDX-License-Identifier: Apache-2.0
"""A profile, as pprof itself adds it up, beside PyTorch's counters and the report."""

import pytest

import runs
from exporting import category_bytes, exported, pprof, pprof_command, pprof_tags, pprof_total

pytestmark = [
    pytest.mark.skipif(runs.on_real_gpu(), reason="the traces are of the simulated GPU"),
    pytest.mark.skipif(pprof_command() is None, reason="neither pprof nor go is here"),
]


@pytest.fixture(scope="module")
def profile(recorded, tmp_path_factory):
    """The first process alone, with the peak of its second step as the moment."""
    folder = tmp_path_factory.mktemp("pprof")
    return exported(recorded.traces[:1], "pprof", folder / "one.pb.gz", "--at", "step:1")


def test_the_peak_is_pytorchs_own(recorded, profile):
    assert pprof_total(profile, "inuse_space") == recorded.truths[0]["peak_allocated"]


def test_all_allocations_are_pytorchs_own(recorded, profile):
    assert pprof_total(profile, "alloc_space") == recorded.truths[0]["allocated"]
    assert pprof_total(profile, "alloc_objects") == recorded.truths[0]["blocks"]


def test_categories_at_the_peak_are_the_reports(recorded, profile):
    expected = {name: size for name, size in category_bytes(recorded.device(0)["at_peak"]).items() if size}
    assert len(expected) > 4
    assert pprof_tags(profile, "inuse_space", "category") == expected


def test_a_moment_is_the_reports(recorded, profile, tmp_path):
    made = runs.report([recorded.traces[0]], tmp_path)  # for its form
    assert made["devices"][0]["at_moment"] is None
    import json
    import subprocess
    target = tmp_path / "at.json"
    subprocess.run([runs.memtrace(), "report", recorded.traces[0], "--at", "step:1", "--json", target], check=True,
                   capture_output=True)
    view = json.loads(target.read_text())["devices"][0]["at_moment"]
    assert pprof_tags(profile, "moment_space", "category") == {
        name: size for name, size in category_bytes(view).items() if size}


def test_lines_are_named_and_the_default_is_the_peak(recorded, profile):
    text = pprof(profile, "-top", "-unit=B", "-nodefraction=0", "-lines")
    assert "Type: inuse_space" in text
    assert "small_training.py:" in text
    assert "<module>" in text and "<unknown>" not in text


def test_two_processes_are_told_apart(recorded, tmp_path):
    both = exported(recorded.traces, "pprof", tmp_path / "two.pb.gz")
    found = pprof_tags(both, "inuse_space", "process")
    assert sorted(found.values()) == sorted(truth["peak_allocated"] for truth in recorded.truths)
