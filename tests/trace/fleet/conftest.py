# SPDX-License-Identifier: Apache-2.0
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import programs
import recordings
import runs
from stored import rows_in

sys.path[:0] = [str(runs.ROOT / "python")]

HERE = Path(__file__).resolve().parent
KINDS = {"steady": ("steady", 128, 20, None), "leaks": ("leaks", 128, 30, None), "fails": ("fails", 512, 80, "1GiB")}


@dataclass
class Recorded:
    folder: Path  # with the traces of one run
    said: list  # by its processes, by rank
    report: dict  # of the command


@dataclass
class Said:
    status: int
    out: str
    err: str


def _record(kinds, folder: Path, env) -> Recorded:
    done = []
    for rank, (kind, width, steps, memory) in enumerate(kinds):
        variables = {"RANK": str(rank), "WORLD_SIZE": str(len(kinds))} if len(kinds) > 1 else {}
        output = folder / "made" / str(rank)
        command = [runs.python(), programs.path("trains"), kind, width, steps]
        done.append(recordings.run(command, output, env={**env, **variables}, memory=memory).expect(0))
    traces = []
    for outcome in done:
        assert len(outcome.traces) == 1
        traces.append(Path(shutil.move(outcome.traces[0], folder / outcome.traces[0].name)))
    shutil.rmtree(folder / "made")
    said = [json.loads(outcome.stdout.splitlines()[-1]) for outcome in done]
    return Recorded(folder, said, runs.report(traces, folder))


@pytest.fixture(scope="session")
def recorded(built, tmp_path_factory) -> dict:
    """Runs by their names: of a process each, and one of two ranks."""
    pytest.importorskip("pyarrow", reason="pip install pyarrow")
    made = {name: _record([kind], tmp_path_factory.mktemp(name), {}) for name, kind in KINDS.items()}
    made["ranks"] = _record([KINDS["steady"], KINDS["leaks"]], tmp_path_factory.mktemp("ranks"), {})
    return made


@pytest.fixture(autouse=True)
def the_built_command(built, monkeypatch):
    monkeypatch.setenv("MEMTRACE_COMMAND", str(runs.memtrace()))


@pytest.fixture
def fleet(capsys):
    """memtrace fleet …, in this process."""
    from memtrace.fleet.__main__ import main

    def run(*arguments) -> Said:
        capsys.readouterr()
        try:
            status = main([str(one) for one in arguments])
        except SystemExit as left:
            status = left.code
        told = capsys.readouterr()
        return Said(status, told.out, told.err)

    return run


@pytest.fixture(scope="session")
def real_rows(recorded) -> dict:
    """The rows of the recorded runs' summaries, by name; copies of them make fleets with planted truths."""
    from memtrace.fleet import identity, summarize

    made = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMTRACE_COMMAND", str(runs.memtrace()))
        for name, run in recorded.items():
            content = summarize.of_run(identity.run_of(identity.traces_in(run.folder)), summarize.Told()).content
            made[name] = rows_in(content)
    return made
