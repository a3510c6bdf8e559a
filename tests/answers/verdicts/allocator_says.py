# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's own allocator says of programs at the beginning of each step, for truths to be held against.

Copies of the programs, their lines where they were, call allocator_probe.sample() at the line that ends in `# step`.
They run on the simulated GPU without memtrace's library.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import runs
from corpus import Truth

HERE = Path(__file__).resolve().parent
STEP = re.compile(r"^(\s+)(\S.*# step)$", re.MULTILINE)


@dataclass(frozen=True)
class Steps:
    allocated: list[int]
    by_line: list[dict[int, int]]

    def gap(self) -> int:
        """Steps between two samples, so many that what happens every three or every five is in it evenly."""
        most = 2 * len(self.allocated) // 3
        return most - most % (15 if most >= 15 else 3)

    def growth(self) -> int:
        return self.allocated[-1] - self.allocated[-1 - self.gap()]

    def growth_of(self, lines: set[int]) -> int:
        last, before = self.by_line[-1], self.by_line[-1 - self.gap()]
        return sum(last.get(line, 0) - before.get(line, 0) for line in lines)

    def rate(self) -> float:
        return self.growth() / self.gap()


def instrumented(path: Path, folder: Path) -> Path:
    text, count = STEP.subn(r'\1__import__("allocator_probe").sample(); \2', path.read_text())
    assert count == 1, f"{path.name} has {count} lines that end in # step"
    copy = folder / path.name
    copy.write_text(text)
    return copy


def noted_in(folder: Path, steps: int) -> Steps:
    processes = list(folder.iterdir())
    assert len(processes) == 1, f"{folder.name}: steps in {len(processes)} processes"
    said = [json.loads(line) for line in processes[0].read_text().splitlines()]
    assert len(said) == steps, f"{folder.name}: {len(said)} steps of {steps}"
    return Steps([one["allocated"] for one in said],
                 [{int(line): size for line, size in one["by_line"].items()} for one in said])


def ask(programs: dict[Truth, int], folder: Path) -> dict[str, Steps]:
    """Runs each program for so many steps; of a program's processes the one that takes them counts."""
    lines, noted = [], {}
    for truth, steps in programs.items():
        noted[truth.program] = folder / truth.program
        noted[truth.program].mkdir()
        lines.append(json.dumps([str(instrumented(truth.path, folder)), steps, str(noted[truth.program])]))
    line, more = runs.command_line([runs.python(), str(HERE / "allocator_probe.py")], None)
    environment = runs.environment({**more, "PYTHONPATH": str(HERE), "OMP_NUM_THREADS": "1"})
    outcome = subprocess.run(line, input="\n".join(lines).encode(), capture_output=True, env=environment, timeout=1800)
    assert outcome.returncode == 0, outcome.stderr.decode(errors="replace")[-6000:]
    return {truth.program: noted_in(noted[truth.program], steps) for truth, steps in programs.items()}
