# SPDX-License-Identifier: Apache-2.0
"""A run that PyTorch's recorder and memtrace followed at once, and what is exported of it."""

import importlib.util
import subprocess
from dataclasses import dataclass
from pathlib import Path

import programs
import recordings
import runs
import snapshots

HERE = Path(__file__).resolve().parent
EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
KILLED = -9  # snapshot_truth.py ends so
# program, variables, arguments, devices
CASES = {
    "transformer_adamw": ("transformer_adamw", {}, [], 1),
    "transformer_adamw, expandable": ("transformer_adamw", EXPANDABLE, [], 1),
    "side_streams": ("side_streams", {}, [], 1),
    "side_streams, expandable": ("side_streams", EXPANDABLE, [], 1),
    "cuda_graph": ("cuda_graph", {}, [], 1),
    "cuda_graph, expandable": ("cuda_graph", EXPANDABLE, [], 1),
    "out_of_memory": ("out_of_memory", {}, [], 1),
    "two_devices": ("two_devices", {}, [], 2),
    "mt5_trainer": ("mt5_trainer", {}, [], 1),
    "resnet50_sgd, streams": ("resnet50_sgd", {}, ["--streams"], 1),
    "lora_peft": ("lora_peft", {}, [], 1),
    "amp_checkpoint, rounding": ("amp_checkpoint", {
        "PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:64,roundup_power2_divisions:[256:1,512:2,1024:4,>:8],"
                                   "garbage_collection_threshold:0.8"}, [], 1),
}
QUICK = ("side_streams, expandable", "two_devices")


def viz_module():
    """torch/cuda/_memory_viz.py as it is installed; by itself it needs no torch, which would ask for a GPU's libraries."""
    found = subprocess.run(
        [runs.python(), "-c", "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"],
        capture_output=True, text=True, check=True).stdout.strip()
    spec = importlib.util.spec_from_file_location("memory_viz", f"{found}/cuda/_memory_viz.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def export(trace: Path, into: Path, *options: str) -> dict:
    done = subprocess.run(
        [runs.memtrace(), "export", trace, "--format", "snapshot", "-o", into, *options],
        capture_output=True, text=True, env=runs.environment())
    # 1: the program was killed, which is said; the file is there.
    assert into.exists(), done.stderr
    assert done.returncode in (0, 1), done.stderr
    return snapshots.load(into)


@dataclass
class Run:
    truth: dict
    truth_file: Path
    trace: Path
    file: Path
    exported: dict


def run(case: str, folder: Path) -> Run:
    program, variables, arguments, devices = CASES[case]
    truth = folder / "truth.pickle"
    recordings.run([runs.python(), HERE / "snapshot_truth.py", truth, programs.path(program), *arguments], folder / "trace",
                   env=variables, devices=devices, timeout=600).expect(KILLED)
    trace, = runs.traces_in(folder / "trace")
    file = folder / "exported.pickle"
    return Run(snapshots.load(truth), truth, trace, file, export(trace, file))
