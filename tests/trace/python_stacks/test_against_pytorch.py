# SPDX-License-Identifier: Apache-2.0
"""The frames in a trace against those that PyTorch's own recorder kept of the same run."""
import pathlib
import pickle
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "trace" / "training"))

import compare  # noqa: E402
import programs  # noqa: E402
import recordings  # noqa: E402
import runs  # noqa: E402

SLOW = {"compiled_by_inductor"}
PROGRAMS = [
    pytest.param(name, marks=pytest.mark.slow if name in SLOW else ())
    for name in programs.having("python_stacks")
]


def events_of(program, folder):
    truth = folder / "truth.pickle"
    # Nothing compiled earlier.
    run, env = (runs.run, {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}) if program in SLOW else (
        recordings.run, {})
    run(
        [runs.python(), runs.ROOT / "tests" / "trace" / "training" / "recorded_by_pytorch.py", truth,
         programs.path(program)],
        folder / "trace", timeout=600, env=env,
    ).expect(0)
    (trace,) = runs.traces_in(folder / "trace")
    with open(truth, "rb") as file:
        entries = pickle.load(file)["device_traces"][0]
    lines = runs.dump(trace)
    facts = {line["key"]: line["value"] for line in lines if line["kind"] == "info"}
    assert facts["python_stacks"] == "on"
    return entries, compare.recorded_events(lines, 0)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_frame_equals_pytorchs(program, built, tmp_path):
    entries, lines = events_of(program, tmp_path)
    entries = [entry for entry in entries if entry["action"] in compare.KINDS]
    found = compare.Comparison()
    compare.compare_events(entries, lines, found)
    print("%s: %d events, %d with frames, %d frames, %d different stacks" % (
        program, len(entries), found.with_frames, found.frames,
        found.different_stacks))
    assert found.stacks == len(entries) > 100
    assert found.with_frames > 50
    assert len({str(line["stack"]) for line in lines}) > 10
    assert found.differences == 0, "\n".join(found.shown)
