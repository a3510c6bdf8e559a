# SPDX-License-Identifier: Apache-2.0
"""The traces, reports and pages of these tests: each is made once, by the first test that asks for it. Workers of one run
share them; a lock keeps two of them from making the same."""

import fcntl
import json
import subprocess
from contextlib import contextmanager
from pathlib import Path

import programs
import recordings
import runs

HERE = Path(__file__).resolve().parent
RANKS = [f"rank{rank}" for rank in range(4)]
LARGE_EVENTS, LARGE_LINES = 10_000_000, 10_000
# For each page the traces it is made of, and what is told to the command besides.
PAGES = {
    "small": (["small"], []),
    "out_of_memory": (["out_of_memory"], []),
    "large": (["large"], []),
    "leak": (["leak"], []),
    "expected": (["expected"], []),
    "in_pieces": (["in_pieces"], []),
    "hostile": (["hostile"], []),
    "ranks": (RANKS, []),
    "with_source": (["small"], ["--with-source"]),
    "scrubbed": (["hostile"], ["--scrub"]),
}
DIFFERENCE = ("small", "out_of_memory")
ARGUMENT = "</script><script>window.hostile=9</script>"
# Programs, their arguments, and how they are recorded.
RUNS = {
    "small": (programs.path("transformer_adamw"), ["--steps", "4"], {}),
    "out_of_memory": (programs.path("out_of_memory"), [], {"memory": "2GiB"}),
    # Below a launcher's frames: without them a box that is 8 pixels wide is among the first three rows of its icicle, which
    # the keyboard reaches, and axe finds it too small.
    "leak": (HERE / "programs/launched.py",
             [runs.ROOT / "tests/corpus/programs/leak_validation_outputs.py", "--steps", "60"], {}),
    "expected": (programs.path("expects"), ["--say", "object"], {"env": {"PYTHONPATH": str(runs.ROOT / "python")}}),
    "in_pieces": (programs.path("in_pieces"), [], {"memory": "880MiB"}),
    "hostile": (HERE / "programs/hostile_names.py", [ARGUMENT], {"env": {"PYTHONPATH": str(runs.ROOT / "python")}}),
}
RUNS |= {
    rank: (programs.path("one_rank"), [],
           {"devices": 4, "env": {"RANK": str(number), "LOCAL_RANK": str(number), "WORLD_SIZE": str(len(RANKS))}})
    for number, rank in enumerate(RANKS)
}


def called(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=runs.environment())
    assert done.returncode == 0, f"{command}: {done.stderr[-3000:]}"
    return done.stdout


class Files:
    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def _making(self, what: str):
        """Yields whether it is still to be made, and keeps others out meanwhile."""
        done = self.folder / f"{what}.done"
        with open(self.folder / f"{what}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield not done.exists()
            done.touch()

    def trace(self, name: str) -> Path:
        if name == "large":
            with self._making("large") as missing:
                if missing:
                    large = self.folder / "large"
                    large.mkdir(exist_ok=True)
                    called(runs.build() / "tests/example_traces", large, LARGE_EVENTS, LARGE_LINES)
            return self.folder / "large/many_sites.mtrace"
        program, arguments, how = RUNS[name]
        status = 1 if name in programs.having("oom") else 0
        return recordings.record(program, *arguments, **how).expect(status).trace

    def page(self, name: str) -> Path:
        made, told = self.folder / f"{name}.html", self.folder / f"{name}.json"
        if name == "difference":
            line = ["diff", *map(self.trace, DIFFERENCE)]
        else:
            traces, options = PAGES[name]
            line = ["report", *map(self.trace, traces), *options]
        with self._making(f"page {name}") as missing:
            if missing:
                called(runs.memtrace(), *line, "--html", made, "--json", told)
        return made

    def json(self, name: str) -> dict:
        """The content expected of the page of this name, as the command gives it to programs."""
        self.page(name)
        return json.loads((self.folder / f"{name}.json").read_text())
