# SPDX-License-Identifier: Apache-2.0
"""Asks memtrace fit for cells that largest.py found by bisection, and keeps its answers in by_fit.json.

    python tests/fit/guides/by_fit.py    one fit a model, over its GPUs; what is there already is left as it is
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import settings

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))

import runs  # noqa: E402

RESULTS = HERE / "by_fit.json"
SETTING = "train, fp32"
ASKED = [("t5-base", ("rtx3090", "rtx4090", "a100-40")), ("t5-large", ("rtx3090", "rtx4090")), ("t5-base", ("rtx3080", "v100-16"))]


def fit(model: str, gpus: tuple[str, ...], scratch: Path) -> list[dict]:
    program, file = HERE.parents[1] / "guides" / "summarizer.py", scratch / "fit.json"
    line = [str(runs.memtrace()), "fit", "--gpu", ",".join(gpus), "--batch", "--batch {}", "--no-advice", "--jobs", "1", "--json", str(file),
            "--cache", str(scratch / "cache"), "--", runs.python(), str(program), "--model", model, *settings.SETTINGS[SETTING].split()]
    ended = subprocess.run(line, env=runs.environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if ended.returncode:
        sys.exit(f"{model}: exit status {ended.returncode}\n{ended.stderr.decode(errors='replace')[-3000:]}")
    return json.loads(file.read_text())["rows"]


def main() -> None:
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as scratch:
        for model, gpus in ASKED:
            missing = tuple(gpu for gpu in gpus if f"{SETTING}: {model}: {gpu}" not in found)
            for row in fit(model, missing, Path(scratch)) if missing else []:
                name = f"{SETTING}: {model}: {row['gpu']}"
                found[name] = {key: row[key] for key in ("largest_batch", "refused_batch", "verified", "runs")}
                print(name, found[name], flush=True)
            RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
