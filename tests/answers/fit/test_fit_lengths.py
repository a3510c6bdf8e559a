# SPDX-License-Identifier: Apache-2.0
"""memtrace fit over several lengths: its law says what a length that was not tried needs."""

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

import recordings
import runs

PROGRAM = Path(__file__).resolve().parent / "programs" / "stored_scores.py"
SCHEMA = json.loads((runs.ROOT / "analyzer" / "plan" / "fit" / "fit.schema.json").read_text())
GPU, MEMORY = "rtx3090", "2GiB"
pytestmark = pytest.mark.skipif(runs.on_real_gpu(), reason="it simulates a GPU of a small size")


@pytest.mark.slow
def test_the_law_holds_at_a_length_that_was_not_tried(built, tmp_path):
    line = [runs.memtrace(), "fit", "--gpu", f"{GPU}:{MEMORY}", "--batch", "--batch-size {}", "--sequence", "--length {}",
            "--sequences", "64,128,256", "--no-advice", "--no-cache", "--json", tmp_path / "fit.json", "--html",
            tmp_path / "fit.html", "--", runs.python(), PROGRAM]
    done = subprocess.run([str(part) for part in line], check=False, capture_output=True, text=True, cwd=tmp_path,
                          env=runs.environment(), timeout=600)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "fit.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    law, = document["length_laws"]
    assert law["lengths"] == [64, 128, 256] and law["largest_error"] < 0.05
    # Scores in two layers and eight heads, before and after softmax at least, of 4 bytes.
    assert law["bytes_per_token_squared"] > 2 * 8 * 2 * 4
    assert "length²" in done.stdout and "at any length" in (tmp_path / "fit.html").read_text()

    batch, length = 12, 384
    tried = recordings.run([runs.python(), PROGRAM, "--batch-size", batch, "--length", length], None,
                           gpu=GPU, memory=MEMORY)
    tried.expect(0)
    said = law["constant_bytes"] + batch * (law["bytes_per_item"] + law["bytes_per_token"] * length
                                            + law["bytes_per_token_squared"] * length ** 2)
    assert said == pytest.approx(int(tried.stdout), rel=0.05)
