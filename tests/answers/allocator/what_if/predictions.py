# SPDX-License-Identifier: Apache-2.0
"""A replay's predictions for a program under other options, beside what the program really does under
them on the simulated GPU, by torch.cuda.memory_stats() of that run.

The simulated driver gives addresses in one definite way; a prediction is a range over several. It is
right if the real figure lies in the range, which is one number where addresses do not matter.
"""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "support"))

import recordings  # noqa: E402
import runs  # noqa: E402

PROGRAM = HERE / "one_workload.py"
# Allocator events are all that is wanted; both cost time.
QUIET = {"MEMTRACE_CENSUS": "0", "MEMTRACE_SAMPLING": "0"}
LARGE = 24 << 30  # bytes: a GPU on which every workload fits

# By a short name for the table.
SETTINGS = {
    "default": "",
    "expandable": "expandable_segments:True",
    "max split 32": "max_split_size_mb:32",
    "roundup 4": "roundup_power2_divisions:4",
    "segments of 64": "large_segment_size_mb:64",
    "garbage collection": "garbage_collection_threshold:0.03,per_process_memory_fraction:0.9",
    "expandable, roundup 8": "expandable_segments:True,roundup_power2_divisions:8",
    "split 48, segments of 32": "max_split_size_mb:48,large_segment_size_mb:32,roundup_power2_divisions:2",
}


@dataclass
class Case:
    """One run of a workload under one setting on a GPU of some size."""

    workload: str
    setting: str
    memory: int = LARGE

    @property
    def name(self) -> str:
        return f"{self.workload}.{list(SETTINGS).index(self.setting)}.{self.memory >> 20}"


def perform(cases: list[Case], folder: Path) -> dict[str, dict]:
    """Really runs them: PyTorch's own statistics by case, and the traces in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for case in cases:
        made = recordings.record(PROGRAM, case.workload, memory=f"{case.memory}B",
                                 env={**QUIET, "PYTORCH_CUDA_ALLOC_CONF": SETTINGS[case.setting]}).expect(0)
        shutil.copyfile(made.trace, folder / f"{case.name}.mtrace")
        found[case.name] = json.loads(made.stdout)
    return found


def replay(trace: Path, settings: list[str], memory: int | None = None) -> dict[str, dict]:
    """The predictions of memtrace replay, by the setting's text."""
    line = [str(runs.memtrace()), "replay", str(trace), "--json", "-"]
    for text in settings:
        line += ["--alloc-conf", text]
    if memory is not None:
        line += ["--memory", f"{memory}B"]
    done = subprocess.run(line, capture_output=True, text=True, env=runs.environment(), check=False)
    assert done.returncode == 0, done.stderr
    options = json.loads(done.stdout)["options"]
    # The recorded options come first; their text is PyTorch's shortest unless it was asked for.
    return {option["alloc_conf"]: option for option in options} | {"recorded": options[0]}


def predictions(trace: Path, recorded: str, memory: int | None = None,
                settings: list[str] | None = None) -> dict[str, dict]:
    """By the short name of the setting."""
    names = [name for name in settings or SETTINGS if name != recorded]
    found = replay(trace, [SETTINGS[name] for name in names], memory)
    return {name: found[SETTINGS[name]] for name in names} | {recorded: found["recorded"]}


@dataclass
class PeakVerdict:
    workload: str
    recorded: str
    setting: str
    least: int
    most: int
    real: int
    retries: tuple[int, int]  # predicted, real

    @property
    def error(self) -> int:
        """Bytes outside of what was predicted."""
        return max(self.least - self.real, self.real - self.most, 0)


def judge_peak(case: Case, recorded: str, predicted: dict, real: dict) -> PeakVerdict:
    return PeakVerdict(
        case.workload, recorded, case.setting, predicted["peak_reserved_least_bytes"],
        predicted["peak_reserved_most_bytes"], real["reserved_bytes.all.peak"],
        (predicted["retries"], real["num_alloc_retries"]),
    )


@dataclass
class MemoryVerdict:
    """Out of memory or not, on a GPU of a given size."""

    workload: str
    recorded: str
    setting: str
    memory: int
    predicted: dict | None  # the replay's "oom"
    always: bool            # whatever the addresses
    real: int | None        # allocations before it; None: it fitted

    @property
    def undecided(self) -> bool:
        return self.predicted is not None and not self.always

    @property
    def right(self) -> bool:
        if self.predicted is None:
            return self.real is None
        if self.real is None:
            return not self.always
        latest = self.predicted["most_allocations_before"]
        return (self.predicted["allocations_before"] <= self.real
                and (latest is None or self.real <= latest))


def judge_memory(case: Case, recorded: str, predicted: dict, real: dict) -> MemoryVerdict:
    oom = predicted["oom"]
    return MemoryVerdict(
        case.workload, recorded, case.setting, case.memory, oom,
        oom is not None and oom["whatever_the_addresses"],
        real["allocation.all.allocated"] if real["num_ooms"] else None,
    )
