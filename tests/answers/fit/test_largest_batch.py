# SPDX-License-Identifier: Apache-2.0
"""memtrace fit finds the batch that trying every batch finds; brute_force.py tried them, make_results.py tells all."""

import json
import sys

import pytest

import answers
import brute_force
import cells
import recordings

QUICK = "generate"
sys.path.insert(0, str(cells.HERE / "published"))

import figures  # noqa: E402


def truth_of(program: cells.Program) -> dict[str, str]:
    return {gpu: cell["outcomes"] for gpu, cell in brute_force.load()[program.name]["cells"].items()}


@pytest.mark.parametrize("program", cells.ALL, ids=lambda program: program.name)
def test_every_batch_was_tried_for_the_program_as_it_is(program):
    kept = brute_force.load()[program.name]
    assert kept["content"] == program.content(), "the program has changed: run brute_force.py again"
    assert set(kept["cells"]) == set(program.gpus) and len(program.gpus) >= 6
    for cell in kept["cells"].values():
        assert brute_force.done(cell["outcomes"]) and brute_force.largest(cell["outcomes"]) >= 1
        assert all(cell["outcomes"][int(batch) - 1] == letter for batch, letter in cell["plain"].items())


def test_there_are_enough_programs():
    assert len(cells.ALL) >= 12


def test_a_boundary_is_where_it_was_found(built):
    program = cells.named(QUICK)
    outcomes = truth_of(program)["rtx3090"]
    last = brute_force.largest(outcomes)
    assert [brute_force.plain(program, "rtx3090", batch) for batch in (last, last + 1)] == ["f", "o"]


def test_halving_from_a_batch():
    assert answers.halving("fffoooo", 64) == (2, 6)
    assert answers.halving("fffoooo", 3) == (3, 1)
    assert answers.halving("oooo", 4) == (0, 3)
    assert answers.halving("ffffoooo", 64, lambda batch: int(batch * 0.9))[0] == 4


def test_fit_equals_every_batch(built, tmp_path):
    program = cells.named(QUICK)
    rows = answers.fit(program, program.gpus[:2], tmp_path)
    assert {row["gpu"]: row["largest_batch"] for row in rows} == {
        gpu: brute_force.largest(truth_of(program)[gpu]) for gpu in program.gpus[:2]}
    assert all(row["verified"] for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("program", cells.ALL, ids=lambda program: program.name)
def test_fit_equals_every_batch_on_every_gpu(program, built, tmp_path):
    rows = answers.fit(program, program.gpus, tmp_path)
    assert {row["gpu"]: row["largest_batch"] for row in rows} == {
        gpu: brute_force.largest(outcomes) for gpu, outcomes in truth_of(program).items()}


def test_a_published_peak_of_a_real_gpu(built):
    """The quickest of those in published/: generation with phi-1.5, printed with two decimals."""
    figure = next(each for each in figures.ALL if each.what == "phi-1.5, generation")
    program = cells.HERE / "published" / "programs" / figure.program
    ended = recordings.record(program, *figure.arguments.split(), gpu=figure.model, bare=True).expect(0)
    assert abs(json.loads(ended.stdout)["allocated"] / figure.unit / figure.published - 1) <= 0.005
