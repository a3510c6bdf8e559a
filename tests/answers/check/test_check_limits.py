# SPDX-License-Identifier: Apache-2.0
"""memtrace check on real trainings: a limit at PyTorch's own peak holds, one byte below it breaks."""

from __future__ import annotations

import pytest

from checks import BROKEN, OK, PROGRAM, UNKNOWN, VALIDATOR, check, document, line_of


def test_the_schema_is_a_schema_and_refuses_what_is_not_in_it(trained):
    VALIDATOR.check_schema(VALIDATOR.schema)
    run = trained()
    made = document(OK, run.trace, "--max-peak", "20GiB")
    made["checks"][0]["more"] = 1
    assert not VALIDATOR.is_valid(made)


@pytest.mark.parametrize("option, check_name, which", [
    ("--max-peak", "max-peak", "allocated"), ("--max-reserved", "max-reserved", "reserved"),
])
def test_a_limit_at_the_peak_holds_and_one_byte_below_breaks(trained, option, check_name, which):
    run = trained()
    peak, = getattr(run, which)
    assert peak > 0
    one, = document(OK, run.trace, option, f"{peak}B")["checks"]
    assert (one["check"], one["subject"], one["outcome"]) == (check_name, "device:0", "ok")
    assert one["sizes"] == {
        "measured_bytes": peak, "limit_bytes": peak, "baseline_bytes": None, "beyond_bytes": 0,
    }
    one, = document(BROKEN, run.trace, option, f"{peak - 1}B")["checks"]
    assert (one["outcome"], one["sizes"]["beyond_bytes"]) == ("broken", 1)
    assert one["line"]["file"] == str(run.program)
    assert one["line"]["line"] in range(1, len(PROGRAM.read_text().splitlines()) + 1)


def test_the_line_to_blame_is_the_one_that_holds_most(trained):
    """Two weights of 16 MiB each are made in make_model, and their gradients in backward belong to
    the line of the forward call: 32 MiB each, and only the latter holds activations, too."""
    run = trained("--batch", "2048")
    one, = document(BROKEN, run.trace, "--max-peak", "1MiB")["checks"]
    assert one["line"]["line"] == line_of("return model(rows)")
    text = check(run.trace, "--max-peak", "1MiB", cwd=run.program.parent).stdout
    whole, one = text.splitlines()
    assert whole.startswith("run     FITS · ") and one.startswith("broken ")
    assert f" train.py:{line_of('return model(rows)')} forward " in text


def test_units(trained):
    run = trained()
    peak, = run.allocated
    mebibytes = -(-peak // 2**20)
    megabytes = -(-peak // 10**6)
    assert check(run.trace, "--max-peak", f"{mebibytes}MiB").returncode == OK
    assert check(run.trace, "--max-peak", f"{mebibytes - 1}MiB").returncode == BROKEN
    assert check(run.trace, "--max-peak", f"{megabytes}MB").returncode == OK
    assert check(run.trace, "--max-peak", f"{megabytes - 1}MB").returncode == BROKEN


def test_each_of_two_devices_is_checked_and_named(trained):
    run = trained("--devices", "2")
    assert len(run.allocated) == 2
    made = document(BROKEN, run.trace, "--max-peak", f"{run.allocated[1] - 1}B", "--no-leaks")
    peaks = {one["subject"]: one for one in made["checks"] if one["check"] == "max-peak"}
    assert {name: one["sizes"]["measured_bytes"] for name, one in peaks.items()} == {
        "device:0": run.allocated[0], "device:1": run.allocated[1],
    }
    assert peaks["device:1"]["outcome"] == "broken"
    lines = check(run.trace, "--max-peak", "20GiB").stdout.splitlines()
    assert [text.split(":")[0] for text in lines[1:]] == ["ok      max-peak device 0", "ok      max-peak device 1"]


def test_a_doubled_batch_against_the_run_before(trained):
    before, after = trained(), trained("--batch", "128")
    growth = after.allocated[0] - before.allocated[0]
    assert growth > 0
    made = document(BROKEN, after.trace, "--against", before.trace, "--tolerance", f"{growth - 1}B")
    peak, reserved = made["checks"]
    assert (peak["check"], peak["outcome"]) == ("against-peak", "broken")
    assert peak["sizes"]["baseline_bytes"] == before.allocated[0]
    assert peak["sizes"]["beyond_bytes"] == 1
    assert peak["line"]["line"] in (line_of("return model(rows)"), line_of(".square().mean()"))
    assert reserved["sizes"]["measured_bytes"] == after.reserved[0]
    larger = max(after.reserved[0] - before.reserved[0], growth)
    document(OK, after.trace, "--against", before.trace, "--tolerance", f"{larger}B")
    document(OK, after.trace, "--against", before.trace, "--tolerance", "500%")
    document(BROKEN, after.trace, "--against", before.trace)  # 2 %
    made = document(OK, before.trace, "--against", after.trace, "--tolerance", "0%")
    assert " less than before" in made["checks"][0]["message"]


def test_a_device_that_the_run_before_lacks(trained):
    made = document(UNKNOWN, trained("--devices", "2").trace, "--against", trained().trace)
    by_device = {one["subject"]: one for one in made["checks"] if one["check"] == "against-peak"}
    assert by_device["device:0"]["outcome"] == "ok"
    assert by_device["device:1"]["outcome"] == "unknown"
    assert "nothing on device 1" in by_device["device:1"]["message"]


def test_a_killed_run_is_broken_or_unknown_and_never_ok(trained):
    run = trained("--killed")
    peak, = run.allocated
    one, = document(BROKEN, run.trace, "--max-peak", f"{peak - 1}B")["checks"]
    assert one["sizes"]["measured_bytes"] == peak
    one, = document(UNKNOWN, run.trace, "--max-peak", "20GiB")["checks"]
    assert "killed" in one["message"] and "may have been higher" in one["message"]
