# SPDX-License-Identifier: Apache-2.0
"""tests/corpus: programs, and what is true of the memory of each. manifest.toml says what its keys mean."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "corpus"
MANIFEST = FOLDER / "manifest.toml"

GROWS = "grows"
FILLS = "fills and empties"
STAYS = "does not grow"

LEAK_SHAPES = ("accumulating", "stepwise", "sawtooth_leak")
MARKS = ("allocates", "keeps", "fills", "step")
LONG = {"base": (30, 100, 300), "held": (30, 100, 300)}  # all others have one length, their own
LEAST = 30  # steps of those that have several


@dataclass(frozen=True, eq=False)
class Truth:
    name: str
    set: str
    memory: str
    steps: int
    why: str
    program: str = ""
    arguments: tuple[str, ...] = ()
    source: str = ""
    lengths: tuple[int, ...] = ()
    min_steps: int = 0
    why_steps: str = ""
    gpu: str = "rtx3090"
    memory_size: str | None = None
    marks: tuple[str, ...] = ()
    subject: tuple[str, ...] = ("device",)
    shapes: tuple[str, ...] = ()
    kept_by: str | None = None
    remedy: str | None = None
    phase: str | None = None
    category: str | None = None
    habit: str | None = None
    bytes_per_step: float | None = None
    tolerance: float = 0.1
    known_wrong: dict[str, str] = field(default_factory=dict)
    by_chance: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return FOLDER / "programs" / f"{self.program}.py"

    def lines(self, mark: str) -> set[int]:
        """The lines that end in this comment."""
        pattern = re.compile(rf"#\s*(<-\s*)?{mark}\s*$")
        text = self.path.read_text().splitlines()
        return {number for number, line in enumerate(text, 1) if pattern.search(line)}


def truth_of(name: str, entry: dict) -> Truth:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    values.setdefault("program", name)
    long = LONG.get(entry["set"])
    values.setdefault("lengths", long or (entry["steps"],))
    values.setdefault("min_steps", LEAST if long else entry["steps"])
    if "bytes_per_step" in entry:
        values["bytes_per_step"] = float(eval(entry["bytes_per_step"], {"__builtins__": {}}))
    return Truth(name=name, **values)


_manifest = tomllib.loads(MANIFEST.read_text())
SETS: dict[str, dict] = _manifest["sets"]
CORPUS = [truth_of(name, entry) for name, entry in _manifest["programs"].items()]
