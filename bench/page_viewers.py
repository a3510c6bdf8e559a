# SPDX-License-Identifier: Apache-2.0
"""The other viewers of bench/pages.py: PyTorch's memory_viz and memray's flame graph. Each is made as its users make it."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

CDN = "https://cdn.jsdelivr.net/"
# The modules that memory_viz imports, and the names it takes from each of d3's parts.
PARTS = {"d3-axis@3": "axisLeft", "d3-scale@4": "scaleLinear", "d3-zoom@3": "zoom, zoomIdentity", "d3-brush@3": "brushX"}
VIZ_FILES = ("MemoryViz.js", "process_alloc_data.js")
VIZ_SHOWN = "document.querySelectorAll('svg polygon').length > 1"
MEMRAY_SHOWN = "document.querySelectorAll('.d3-flame-graph g').length > 1"


def timed(command: list) -> float:
    start = time.perf_counter()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr[-3000:]}")
    return time.perf_counter() - start


def viz_scripts(folder: Path) -> dict[str, str]:
    """Address -> text of all that a page of memory_viz loads: PyTorch's scripts from `folder`, d3 7 from npm."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "all.js").write_text("export * from 'd3';\n")
        timed(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", name, "d3@7", "esbuild@0.28"])
        bundled = Path(name) / "d3.mjs"
        timed([f"{name}/node_modules/.bin/esbuild", f"{name}/all.js", "--bundle", "--format=esm", "--minify",
               f"--outfile={bundled}"])
        d3 = bundled.read_text()
    whole = CDN + "npm/d3@7/+esm"
    scripts = {CDN + f"gh/pytorch/pytorch@main/torch/utils/viz/{file}": (folder / file).read_text()
               for file in VIZ_FILES}
    scripts[whole] = d3
    for part, names in PARTS.items():
        scripts[CDN + f"npm/{part}/+esm"] = f"export {{{names}}} from '{whole}';"
    return scripts


def make_viz(snapshot: Path, page: Path) -> float:
    """Seconds. PyTorch's own script makes the page; it needs no torch, which would ask for a GPU's libraries."""
    script = next(Path(folder) / "torch/cuda/_memory_viz.py" for folder in sys.path
                  if (Path(folder) / "torch/cuda/_memory_viz.py").exists())
    return timed([sys.executable, script, "trace_plot", snapshot, "-o", page])


def record_with_memray(memray: Path, events: int, into: Path) -> None:
    into.unlink(missing_ok=True)
    program = Path(__file__).resolve().parent / "page_host.py"
    timed([memray, "run", "--quiet", "-o", into, program, events])


def make_memray(memray: Path, recorded: Path, page: Path) -> float:
    return timed([memray, "flamegraph", "--force", "--no-web", "-o", page, recorded])
