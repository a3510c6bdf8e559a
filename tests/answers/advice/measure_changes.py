# SPDX-License-Identifier: Apache-2.0
"""Really runs programs and their changed versions on the simulated GPU, without memtrace's library, and
writes down what PyTorch says of each: truth.json, or that of another set.

python tests/answers/advice/measure_changes.py [--into FILE] [--only NAME...] [--set NAME]
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import json_rows  # noqa: E402
import runs  # noqa: E402
from advice_corpus import SETS  # noqa: E402
from known_remedy import CONF, OUTSIDE, Truth  # noqa: E402

# Not of the program: what it takes for the same run every time.
STEADY = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True)
class Wanted:
    truth: Truth
    change: str


def job(wanted: Wanted, into: Path) -> dict:
    """For forked.py. A session of its own: what an earlier run used of the GPU is not taken from this."""
    environment = {**STEADY, "MEMTRACE_SIM_SESSION": "", "MEMTRACE_SIM_MEMORY": wanted.truth.memory}
    arguments, outside = [], ""
    if wanted.change.startswith(OUTSIDE):
        outside = wanted.change.removeprefix(OUTSIDE)
    elif wanted.change.startswith(CONF):
        environment["PYTORCH_CUDA_ALLOC_CONF"] = wanted.change.removeprefix(CONF)
    elif wanted.change:
        arguments = ["--change", wanted.change]
    return {"program": str(wanted.truth.path), "arguments": arguments, "environment": environment,
            "outside": outside, "into": str(into)}


def run_all(wanted: list[Wanted]) -> list[dict]:
    """What forked.py says of each."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = [job(one, Path(folder) / f"{number}.json") for number, one in enumerate(wanted)]
        (Path(folder) / "jobs").write_text(json.dumps(jobs))
        imports = sorted({name for one in wanted for name in one.truth.imports})
        outcome = runs.run([runs.python(), HERE / "forked.py", Path(folder) / "jobs", *imports], None,
                           timeout=3600, env=STEADY)
        outcome.expect(0)
        return [json.loads(Path(one["into"]).read_text()) for one in jobs]


def measure(truths: list[Truth]) -> dict:
    wanted = [Wanted(truth, change) for truth in truths for change in truth.changes()]
    found = {}
    for one, said in zip(wanted, run_all(wanted)):
        if "failure" in said:
            raise RuntimeError(f"{one.truth.name} {one.change}: {said['failure']}")
        said.pop("cpu_seconds")
        found.setdefault(one.truth.name, {})[one.change] = said
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, help="default: that of the set")
    parser.add_argument("--only", nargs="*", help="these programs; what is known of others stays")
    parser.add_argument("--set", choices=SETS, default="corpus")
    chosen = parser.parse_args()
    programs, file, *_ = SETS[chosen.set]
    into = chosen.into or HERE / file
    known = json.loads(into.read_text()) if chosen.only and into.exists() else {}
    truths = [truth for truth in programs if not chosen.only or truth.program in chosen.only]
    json_rows.write(into, {**known, **measure(truths)}, sort_keys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
