# SPDX-License-Identifier: Apache-2.0
"""memtrace.fit: of a function, from Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import runs

PROGRAMS = Path(__file__).resolve().parent / "programs"
sys.path.insert(0, str(runs.ROOT / "python"))

from memtrace import _fit, _fit_call  # noqa: E402


def python(code: str, folder: Path) -> subprocess.CompletedProcess:
    environment = runs.environment({"PYTHONPATH": str(runs.ROOT / "python"), "XDG_CACHE_HOME": str(folder),
                                    "PATH": f"{runs.build()}:{os.environ['PATH']}"})
    return subprocess.run([runs.python(), "-c", code], check=False, capture_output=True, text=True, cwd=folder,
                          env=environment, timeout=300)


@pytest.mark.skipif(runs.on_real_gpu(), reason="it simulates GPUs of several sizes")
def test_the_batch_of_a_function(built, tmp_path):
    place = PROGRAMS / "as_function.py"
    done = python(f"import memtrace; found = memtrace.fit({str(place) + ':train'!r}, '2GiB', max_batch=16); "
                  "print(found, found.batch('2GiB'), found[0].all_fit)", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2GiB:", "16", "16", "True"]


def test_a_function_is_named_as_a_new_process_finds_it(tmp_path):
    assert _fit._target(_fit_call.load, tmp_path) == "memtrace._fit_call:load"
    assert _fit._target("train:main", tmp_path) == "train:main"
    with pytest.raises(ValueError, match="module:function"):
        _fit._target("train", tmp_path)
    with pytest.raises(TypeError, match="a function"):
        _fit._target(3, tmp_path)
    assert _fit_call.load("memtrace._fit_call:load") is _fit_call.load


def test_a_function_of_a_notebook_needs_cloudpickle(tmp_path, monkeypatch):
    def here(batch):
        return batch

    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(ValueError, match="cloudpickle"):
        _fit._target(here, tmp_path)


def test_rows_are_found_by_their_gpu_and_length():
    rows = [{"gpu": "t4", "sequence": 128, "largest_batch": 7, "verified": True, "why_not_verified": None},
            {"gpu": "t4", "sequence": 512, "largest_batch": 0, "verified": True, "why_not_verified": None},
            {"gpu": "l4", "sequence": 128, "largest_batch": 9, "verified": False, "why_not_verified": "no time"}]
    found = _fit.Fit({"rows": rows})
    assert (found.batch("t4", 128), found.batch("t4", 512)) == (7, 0)
    assert repr(found) == "t4, length 128: 7\nt4, length 512: none fits\nl4, length 128: not verified (no time)"
    assert "<td>none fits</td>" in found._repr_html_()
    for missing in (("t4", None), ("l4", 128)):
        with pytest.raises(KeyError):
            found.batch(*missing)
