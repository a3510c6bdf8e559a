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
import recordings  # noqa: E402
import runs  # noqa: E402
from advice_corpus import SETS  # noqa: E402
from known_remedy import CONF, OUTSIDE, Truth  # noqa: E402

# These settings make every run of a program the same.
STEADY = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True)
class Wanted:
    truth: Truth
    change: str


def run(wanted: Wanted) -> dict:
    """The peaks of the changed program, as peaks.py says them; its `failure` where it failed."""
    environment, arguments, outside = dict(STEADY), [], ""
    if wanted.change.startswith(OUTSIDE):
        outside = wanted.change.removeprefix(OUTSIDE)
    elif wanted.change.startswith(CONF):
        environment["PYTORCH_CUDA_ALLOC_CONF"] = wanted.change.removeprefix(CONF)
    elif wanted.change:
        arguments = ["--change", wanted.change]
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) / "peaks.json"
        recordings.run([runs.python(), HERE / "peaks.py", into, outside, wanted.truth.path, *arguments], None,
                       env=environment, memory=wanted.truth.memory or None, imports=wanted.truth.imports)
        return json.loads(into.read_text())


def measure(truths: list[Truth]) -> dict:
    wanted = [Wanted(truth, change) for truth in truths for change in truth.changes()]
    found = {}
    for one in wanted:
        said = run(one)
        if "failure" in said:
            raise RuntimeError(f"{one.truth.name} {one.change}: {said['failure']}")
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
