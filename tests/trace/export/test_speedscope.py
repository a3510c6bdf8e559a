# SPDX-License-Identifier: Apache-2.0
"""A flame graph, as speedscope's own code reads it, beside PyTorch's counters and the report."""

import json

import pytest

import runs
from exporting import category_bytes, exported, speedscope, speedscope_folder

pytestmark = pytest.mark.skipif(runs.on_real_gpu(), reason="the traces are of the simulated GPU")
WORDS = {"optimizer_states": "optimizer states", "kv_cache": "keys and values"}


@pytest.fixture(scope="module")
def file(recorded, tmp_path_factory):
    return exported(recorded.traces, "speedscope", tmp_path_factory.mktemp("speedscope") / "two.json")


def in_words(view: dict) -> dict[str, int]:
    return {WORDS.get(name, name.replace("_", " ")): size for name, size in category_bytes(view).items() if size}


def test_each_profile_sums_to_pytorchs_peak(recorded, file):
    document = json.loads(file.read_text())
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert len(document["profiles"]) == 2
    frames = document["shared"]["frames"]
    for rank, profile in enumerate(document["profiles"]):
        assert profile["unit"] == "bytes" and profile["type"] == "sampled"
        assert profile["endValue"] == sum(profile["weights"]) == recorded.truths[rank]["peak_allocated"]
        by_category = {}
        for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
            name = frames[sample[0]]["name"]
            by_category[name] = by_category.get(name, 0) + weight
        assert by_category == in_words(recorded.device(rank)["at_peak"])


@pytest.mark.skipif(speedscope_folder() is None,
                    reason="MEMTRACE_SPEEDSCOPE does not name a folder with the npm package speedscope, or there is no node")
def test_speedscope_reads_the_same(recorded, file):
    read = speedscope(file)
    assert len(read["profiles"]) == 2
    for rank, profile in enumerate(read["profiles"]):
        assert profile["total"] == recorded.truths[rank]["peak_allocated"]
        assert profile["outermost"] == in_words(recorded.device(rank)["at_peak"])
        assert profile["unit"] == "1.00 KB"  # of 1024
