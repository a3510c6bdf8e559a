# SPDX-License-Identifier: Apache-2.0
import json
import sys
from pathlib import Path

import pytest

import programs
import recordings
import runs

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


class Recorded:
    """Two processes of one run: their traces, what PyTorch counted in each, and the report."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.truths = []
        self.traces = []
        for rank, width in enumerate((256, 384)):
            done = recordings.run([runs.python(), programs.path("small_training"), width], folder,
                                  env={"RANK": str(rank), "WORLD_SIZE": "2"}).expect(0)
            self.truths.append(json.loads(done.stdout.splitlines()[-1]))
            self.traces += [trace for trace in done.traces if trace not in self.traces]
        self.report = runs.report(self.traces, folder)

    def device(self, rank: int) -> dict:
        found, = (one for one in self.report["devices"] if one["rank"] == rank)
        return found


@pytest.fixture(scope="session")
def recorded(built, tmp_path_factory):
    return Recorded(tmp_path_factory.mktemp("export"))
