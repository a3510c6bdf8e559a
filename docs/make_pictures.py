# SPDX-License-Identifier: Apache-2.0
"""Makes docs/pictures: the pages of five real runs on the simulated GPU, as Chromium shows them. Of each the first screen and
the view that tells most; docs/page.md explains them. scripts/screenshots runs it.

Usage: docs/make_pictures.py [NAME…]     after scripts/build release; MEMTRACE_BUILD names another build"""

import os
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("MEMTRACE_BUILD", ROOT / "build" / "release")).absolute()
PICTURES = ROOT / "docs" / "pictures"
PYTHON = ".venv/bin/python"
MOST_BYTES = 60_000
WIDTH, HEIGHT = 1000, 680

# name: options of dry-run, program, the trace that it leaves ("" for all), the view that tells most
RUNS = {
    "fits": ([], ["examples/train_transformer.py", "--batch", "8"], "", "timeline"),
    "out_of_memory": ([], ["examples/train_transformer.py", "--batch", "16"], "", "icicle"),
    "leak": ([], ["tests/corpus/programs/leak_validation_outputs.py", "--steps", "200"], "", "growth"),
    "fragmented": ([], ["tests/answers/fragmentation/fragmented.py", "{folder}", "variable_lengths"], "", "fragmentation"),
    "ranks": (["--gpu", "a100-40", "--devices", "4"],
              ["tests/answers/ranks/programs/forked_ranks.py", "tests/answers/ranks/programs/ddp.py", "4", "2"], "", "ranks"),
}


def record(name: str, folder: Path) -> Path:
    """The page of the run, scrubbed of this machine's paths. That of the run that is out of memory ends with an error, which is meant to happen."""
    options, program, trace, _ = RUNS[name]
    program = [part.format(folder=folder) for part in program]
    traces = folder / "traces"
    outcome = subprocess.run(
        [BUILD / "memtrace", "dry-run", *(options or ["--gpu", "rtx3090"]), "--no-report", "--output", traces, "--", PYTHON,
         *program],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    source = folder / trace if trace else traces
    if not (source.is_file() or list(traces.glob("*.mtrace"))):
        raise SystemExit(f"{name}: no trace was written:\n{outcome.stderr}")
    page = folder / "page.html"
    subprocess.run([BUILD / "memtrace", "report", source, "--html", page, "--scrub"], check=True, capture_output=True)
    return page


def save(picture: bytes, to: Path) -> None:
    """Its beginning, in as many colours as make it small enough for a repository."""
    image = Image.open(BytesIO(picture)).convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, HEIGHT)))
    for colours in (256, 128, 64, 32):
        few = image.quantize(colours, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
        few.save(to, optimize=True)
        if to.stat().st_size <= MOST_BYTES:
            return
    raise SystemExit(f"{to.name} has {to.stat().st_size} bytes; at most {MOST_BYTES}")


def settle(page: Page) -> None:
    page.evaluate("async () => { for (let i = 0; i < 10; ++i) await new Promise(requestAnimationFrame); }")


def photograph(page: Page, name: str, file: Path) -> None:
    page.goto(file.as_uri())
    page.evaluate("window.memtrace.ready")
    settle(page)
    save(page.screenshot(), PICTURES / f"{name}.png")
    view = RUNS[name][3]
    section = page.locator(f"section#{view}")
    section.evaluate("section => section.scrollIntoView()")
    settle(page)
    save(section.screenshot(), PICTURES / f"{name}_{view}.png")


def main(names: list[str]) -> None:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("MEMTRACE_CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name in names or RUNS:
            folder = Path(scratch) / name
            folder.mkdir()
            photograph(page, name, record(name, folder))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
