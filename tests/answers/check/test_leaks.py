# SPDX-License-Identifier: Apache-2.0
"""memtrace check --no-leaks on trainings that leak, that do not, and that are too short."""

from __future__ import annotations

from checks import BROKEN, OK, UNKNOWN, check, document, line_of


def of_device(made: dict) -> dict:
    one, = [one for one in made["checks"] if one["subject"] == "device:0" and one["check"] == "no-leaks"]
    return one


def test_a_leak_is_found_with_its_line(trained):
    run = trained("--leak")
    one = of_device(document(BROKEN, run.trace, "--no-leaks"))
    assert one["outcome"] == "broken"
    assert one["growth"]["shape"] == "accumulating"
    assert one["growth"]["bytes_per_step"] == 64 * 1024 * 4  # a copy of the rows
    assert (one["line"]["file"], one["line"]["line"]) == (str(run.program), line_of("# leaks"))


def test_a_steady_training_passes(trained):
    one = of_device(document(OK, trained().trace, "--no-leaks"))
    assert (one["outcome"], one["line"]) == ("ok", None)


def test_too_few_steps_cannot_tell_and_say_how_many_are_needed(trained):
    run = trained("--steps", "4")
    one = of_device(document(UNKNOWN, run.trace, "--no-leaks"))
    assert one["outcome"] == "unknown"
    assert one["growth"]["steps"] == 4
    needed = 4 + one["growth"]["more_steps_needed"]
    assert needed > 4
    assert f"at least {needed} are needed" in one["message"]
    assert of_device(document(OK, trained("--steps", str(needed + 4)).trace, "--no-leaks"))


def test_what_is_broken_outweighs_what_cannot_be_told(trained):
    done = check(trained("--steps", "4").trace, "--no-leaks", "--max-peak", "1MiB")
    assert done.returncode == BROKEN
    assert sorted(text.split()[0] for text in done.stdout.splitlines()) == ["broken", "run", "unknown"]
