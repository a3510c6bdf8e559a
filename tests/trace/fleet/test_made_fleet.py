# SPDX-License-Identifier: Apache-2.0
"""A made-up fleet, descended from real runs, with leaks, waste, failures and regressions whose truth was written
before there was a summary: the report names them and nothing else."""

import json
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "generator")]

import engine_agreement as agreement  # noqa: E402
import made_fleet  # noqa: E402
import real_runs  # noqa: E402
import scoring  # noqa: E402
import settings  # noqa: E402

RUNS = 320
PERIODS = ("--before", "2026-10-26..2026-11-08", "--after", "2026-11-09..2026-11-22")


@pytest.fixture(scope="module")
def real(built, tmp_path_factory):
    """Where the real runs lie: made here, or by make_results.py before."""
    named = os.environ.get("MEMTRACE_FLEET_REAL")
    return Path(named) if named else tmp_path_factory.mktemp("real")


@pytest.fixture(scope="module")
def made(real, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    made_fleet.make(folder, seed=11, runs=RUNS, chosen=settings.QUICK, real=real)
    return folder


def report(fleet: Path, *options: str) -> dict:
    done = real_runs.fleet("report", fleet, "--json", "-", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_was_planted_is_found_and_nothing_else(made):
    truth = json.loads((made / "truth.json").read_text())
    found = scoring.scores(report(made / "fleet", *PERIODS), truth)
    for score in found:
        if score.question == scoring.SHORT_LEAKS:
            continue
        assert score.planted > 0 and score.judged > 0, f"{score.question}: nothing to find"
        assert not score.missed, score
        assert not score.false_alarms, score


def test_the_same_seed_gives_the_same_runs_and_another_seed_others(made, real, tmp_path):
    again = made_fleet.make(tmp_path / "again", seed=11, runs=RUNS, chosen=settings.QUICK, real=real)
    names = sorted(str(path.relative_to(again)) for path in again.rglob("*.parquet"))
    assert names == sorted(str(path.relative_to(made / "fleet")) for path in (made / "fleet").rglob("*.parquet"))
    assert all((again / name).read_bytes() == (made / "fleet" / name).read_bytes() for name in names[:20])
    other = made_fleet.write_truth(tmp_path / "other.json", 12, RUNS, real_runs.make(settings.QUICK, real))
    assert {one.project for one in other} and (tmp_path / "other.json").read_text() != (made / "truth.json").read_text()


def test_files_that_hold_many_runs_give_the_same_answers(made, real, tmp_path):
    together = made_fleet.make(tmp_path, seed=11, runs=RUNS, chosen=settings.QUICK, real=real, together=100)
    assert len(list(together.rglob("*.parquet"))) < RUNS / 5
    for compared in agreement.compare(report(made / "fleet", *PERIODS), report(together, *PERIODS)):
        assert not compared.different, compared
