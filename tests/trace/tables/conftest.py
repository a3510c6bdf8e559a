# SPDX-License-Identifier: Apache-2.0
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import exports
import programs
import recordings
import runs

HERE = Path(__file__).resolve().parent


@dataclass
class Run:
    folder: Path
    traces: list[Path]  # by rank
    said: list[dict]  # what each program told
    report: dict  # of both


@pytest.fixture(scope="session")
def two_ranks(built, tmp_path_factory) -> Run:
    """Two processes that say that they are ranks 0 and 1, each with its trace."""
    folder = tmp_path_factory.mktemp("ranks")
    done = []
    for rank in range(2):
        output = folder / f"rank{rank}"
        variables = {"RANK": str(rank), "WORLD_SIZE": "2", "PYTHONPATH": str(runs.ROOT / "python")}
        done.append(recordings.run([runs.python(), programs.path("rank_trains")], output, env=variables).expect(0))
    traces = [one for outcome in done for one in outcome.traces]
    assert len(traces) == 2
    said = [json.loads(outcome.stdout.splitlines()[-1]) for outcome in done]
    return Run(folder, traces, said, runs.report(traces, folder))


@pytest.fixture(scope="session")
def database(two_ranks, tmp_path_factory) -> Path:
    return exports.export(two_ranks.traces, "sqlite", tmp_path_factory.mktemp("sqlite") / "run.db")


@pytest.fixture(scope="session")
def parquet(two_ranks, tmp_path_factory) -> Path:
    return exports.export(two_ranks.traces, "parquet", tmp_path_factory.mktemp("parquet") / "run")


@pytest.fixture(scope="session")
def arrow(two_ranks, tmp_path_factory) -> Path:
    return exports.export(two_ranks.traces, "arrow", tmp_path_factory.mktemp("arrow") / "run")
