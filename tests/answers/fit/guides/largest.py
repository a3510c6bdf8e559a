# SPDX-License-Identifier: Apache-2.0
"""Finds the largest batches of tests/answers/guides/summarizer.py for every setting, model and GPU of the guides.

    python tests/answers/fit/guides/largest.py FILE.json [SETTING...]

Every trial is a dry run on the GPU of the cell, which shares only its imports with others (warm.py). From the peaks of
two batches on the largest GPU the answer is guessed; then the batches around it are tried until one fits and the
next does not. Both are kept. What is there already is left as it is.
"""

import json
import sys
from pathlib import Path

import settings

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "support"))
import runs  # noqa: E402
import warm  # noqa: E402

PROGRAM = Path(__file__).resolve().parents[3] / "answers" / "guides" / "summarizer.py"
LARGE = "b200"
IMPORTS = ("transformers.models.mt5.modeling_mt5", "transformers.models.t5.modeling_t5")
HIGHEST = 1024
CONTEXT = 256 << 20


def trial(gpu: str, model: str, setting: str, batch: int) -> dict:
    """The result that summarizer.py prints."""
    command = [runs.python(), PROGRAM, "--model", model, "--batch", batch, *settings.SETTINGS[setting].split()]
    ended = warm.run(command, None, 3600, gpu=gpu, env={"HF_HUB_OFFLINE": "1"}, imports=IMPORTS)
    if ended.status:
        sys.exit(f"{setting}, {model}, batch {batch} on {gpu} failed")
    text = ended.stdout.decode()
    return json.loads(next(line for line in text.splitlines() if line.startswith("RESULT ")).removeprefix("RESULT "))


class Search:
    def __init__(self, file: Path):
        self.file = file
        self.found = json.loads(file.read_text()) if file.exists() else {}
        self.guesses: dict[tuple[str, str], tuple[float, float]] = {}

    def law(self, setting: str, model: str) -> tuple[float, float]:
        """Reserved bytes of no batch, and of one more."""
        if (setting, model) not in self.guesses:
            low, high = (trial(LARGE, model, setting, batch)["peak_reserved"] for batch in (2, 8))
            self.guesses[setting, model] = low - (high - low) / 3, max((high - low) / 6, 1)
        return self.guesses[setting, model]

    def cell(self, setting: str, model: str, gpu: str, usable: int) -> dict:
        fixed, each = self.law(setting, model)
        tried: dict[int, dict] = {}

        def fits(batch: int) -> bool:
            if batch not in tried:
                tried[batch] = trial(gpu, model, setting, batch)
            return tried[batch]["fits"]

        batch, step = min(max(int((usable - fixed) / each), 1), HIGHEST), 1
        if fits(batch):
            low, high = batch, 0
            while not high and low < HIGHEST:
                low, high = (low + step, 0) if fits(low + step) else (low, low + step)
                step *= 2
        else:
            low, high = 0, batch
            while high > 1 and not low:
                lower = max(high - step, 1)
                low, high = (lower, high) if fits(lower) else (0, lower)
                step *= 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return {"largest": low, "refused": high, "peak_reserved": tried[low]["peak_reserved"] if low else None, "trials": len(tried)}

    def run(self, wanted: list[str], usable: dict[str, int]) -> None:
        for setting, model, gpu in settings.cells():
            name = f"{setting}: {model}: {gpu}"
            if name in self.found or (wanted and setting not in wanted):
                continue
            self.found[name] = self.cell(setting, model, gpu, usable[gpu])
            self.file.write_text(json.dumps(self.found, indent=1, sort_keys=True) + "\n")
            print(name, self.found[name], flush=True)


def main() -> None:
    gib = {"rtx3080": 9.8, "v100-16": 15.8, "rtx4090": 23.6, "rtx3090": 23.7, "a100-40": 39.4}
    Search(Path(sys.argv[1])).run(sys.argv[2:], {gpu: int(size * 2**30) - CONTEXT for gpu, size in gib.items()})


if __name__ == "__main__":
    main()
