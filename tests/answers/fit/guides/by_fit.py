# SPDX-License-Identifier: Apache-2.0
"""Asks memtrace fit for the largest batch of every setting, model and GPU of the guides, and keeps its answers in by_fit.json.

    python tests/answers/fit/guides/by_fit.py [--cache DIR] [SETTING...]    one fit a setting and model, over its GPUs

Answers that were verified are left as they are; a fit that was cut short goes on where it stopped if --cache is the same.
The settings that largest.py has not tried come first, and the largest model last.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import settings

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parents[2] / "support"), str(HERE.parent)]

import answers  # noqa: E402
import json_rows  # noqa: E402
import runs  # noqa: E402

RESULTS = HERE / "by_fit.json"
PROGRAM = HERE.parents[2] / "answers" / "guides" / "summarizer.py"
KEPT = ("largest_batch", "refused_batch", "verified", "all_fit", "runs", "seconds", "peak_reserved_bytes", "capacity_bytes", "why_not_verified")
FIRST = ("inference", "train, half the sequence", "train, bf16", "train, checkpointing")
LAST = "mt5-xl"


def order() -> list[tuple[str, str]]:
    wanted = [(setting, model) for setting in settings.SETTINGS for model in settings.models()]
    return sorted(wanted, key=lambda one: (one[1] == LAST, one[0] not in FIRST))


def fit(setting: str, model: str, gpus: list[str], cache: Path, scratch: Path) -> list[dict]:
    """The rows of its JSON; fewer than GPUs where it ended early."""
    file = scratch / "fit.json"
    file.unlink(missing_ok=True)
    line = [str(runs.memtrace()), "fit", "--gpu", ",".join(gpus), "--batch", "--batch {}", "--no-advice", "--jobs", "1", "--json", str(file),
            "--cache", str(cache), "--", runs.python(), str(PROGRAM), "--model", model, *settings.SETTINGS[setting].split()]
    ended = subprocess.run(line, env=runs.environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if not file.exists():
        sys.exit(f"{setting}, {model}: exit status {ended.returncode}\n{ended.stderr.decode(errors='replace')[-3000:]}")
    return json.loads(file.read_text())["rows"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=Path)
    parser.add_argument("settings", nargs="*")
    chosen = parser.parse_args()
    found, made_by = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}, answers.build()
    with tempfile.TemporaryDirectory() as scratch:
        for setting, model in order():
            missing = [gpu for gpu in settings.models()[model] if not found.get(f"{setting}: {model}: {gpu}", {}).get("verified")]
            if not missing or (chosen.settings and setting not in chosen.settings):
                continue
            for row in fit(setting, model, missing, chosen.cache or Path(scratch) / "cache", Path(scratch)):
                name = f"{setting}: {model}: {row['gpu']}"
                found[name] = {key: row.get(key) for key in KEPT} | {"build": made_by}
                print(name, found[name], flush=True)
            json_rows.write(RESULTS, found, sort_keys=True)


if __name__ == "__main__":
    main()
