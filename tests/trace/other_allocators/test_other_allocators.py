# SPDX-License-Identifier: Apache-2.0
"""Allocators beside PyTorch's own: the report's peak is what each of them says of itself."""

import json
import subprocess

import pytest

import runs
from programs_here import HERE, JAX_VARIABLES, c_program, counting_allocator, jax_python


def traced(command: list, folder, **how) -> tuple[dict, dict, list[dict]]:
    """The program's words, the report, and the calls in the trace."""
    outcome = runs.run(command, folder / "trace", **how).expect(0)
    traces = runs.traces_in(folder / "trace")
    assert len(traces) == 1, traces
    lines = runs.dump(traces[0], stacks=False)
    calls = [line for line in lines if line["kind"] == "cuda_call"]
    return json.loads(outcome.stdout.splitlines()[-1]), runs.report(traces, folder), calls


def everything_is_explained(device: dict) -> None:
    used = device["used"]
    assert device["unexplained_bytes"] == 0
    assert sum(part["bytes"] for part in used["parts"]) == used["used_bytes"]


@pytest.fixture(scope="module")
def counted(built, tmp_path_factory) -> tuple[int, dict]:
    """The most bytes that the program asks for at once, counted by an allocator of our own, and the
    report of that run."""
    folder = tmp_path_factory.mktemp("counted")
    said, report, _ = traced([runs.python(), HERE / "training.py", counting_allocator(folder)], folder)
    assert said["peak"] > 100e6
    return said["peak"], report


def test_pluggable_allocator(counted):
    peak, report = counted
    device = report["devices"][0]
    assert device["peak_allocated_bytes"] == peak
    owners = {one["owner"]: one["peak_bytes"] for one in device["outside_pool"]}
    assert owners["library:libcounting_allocator.so"] == peak
    everything_is_explained(device)


def test_cuda_malloc_async(counted, tmp_path):
    variables = {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}
    said, report, calls = traced([runs.python(), HERE / "training.py"], tmp_path, env=variables)
    device = report["devices"][0]
    assert {call["api"] for call in calls} >= {"cudaMallocAsync", "cudaFreeAsync"}
    # PyTorch says what the pool holds, which is rounded up.
    assert device["peak_allocated_bytes"] == said["peak"]
    assert counted[0] <= said["peak"] < counted[0] + 512 * len(calls)
    assert device["peak_reserved_bytes"] is None  # CUDA's pool is no segments of PyTorch's
    assert "unknown" not in {one["category"] for one in device["at_peak"]["categories"]}
    assert "pytorch_allocated" in {one["part"] for one in device["used"]["parts"]}
    everything_is_explained(device)


def test_no_caching(counted, tmp_path):
    variables = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
    _, report, calls = traced([runs.python(), HERE / "training.py"], tmp_path, env=variables)
    device = report["devices"][0]
    assert "cudaMalloc" in {call["api"] for call in calls}
    assert device["peak_allocated_bytes"] == counted[0]
    everything_is_explained(device)


@pytest.mark.slow
def test_pytorchs_own_allocator_is_asked_for_the_same(counted, tmp_path):
    said, _, _ = traced([runs.python(), HERE / "training.py"], tmp_path)
    assert said["requested"] == counted[0]


def line_of(program, frame: dict) -> tuple[str, int]:
    """By the program's debug information: the function and line of a native frame."""
    found = subprocess.run(["addr2line", "-f", "-e", str(program), frame["function"].removeprefix("+")],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    line = found[1].rpartition(":")[2].split()[0]
    return found[0], int(line) if line.isdigit() else 0  # the start of each program has no text


def test_what_a_program_in_c_never_frees(built, tmp_path):
    program = c_program(tmp_path, "keeps_results")
    said, report, _ = traced([program], tmp_path)
    device, = report["devices"]
    site, = device["never_freed"]
    assert (site["bytes"], site["blocks"]) == (said["kept"], 100)
    source = (HERE / "keeps_results.c").read_text().splitlines()
    kept = next(number for number, text in enumerate(source, 1) if "// kept" in text)
    # From the call outwards.
    frames = [line_of(program, frame) for frame in site["frames"] if frame["file"] == str(program)]
    assert frames[0] == ("keep", kept)
    assert [name for name, _ in frames][:3] == ["keep", "answer", "main"]
    words = runs.report_text(runs.traces_in(tmp_path / "trace")).replace("\n", " ")
    assert words.startswith("FITS SO FAR · ") and " of 23.7 GiB " in words.split("cuda:0")[0]
    assert "100 blocks of keeps_results +0x" in words and "(100 MiB) were never freed" in words


def test_what_a_program_in_c_frees(built, tmp_path):
    _, report, _ = traced([c_program(tmp_path, "keeps_results"), "frees"], tmp_path)
    assert report["devices"][0]["never_freed"] == []
    assert runs.report_text(runs.traces_in(tmp_path / "trace")).startswith("FITS · ")


def test_a_program_in_c(built, tmp_path):
    said, report, calls = traced([c_program(tmp_path)], tmp_path)
    device = report["devices"][0]
    assert {"cudaMalloc", "cuMemAlloc_v2", "cudaMallocAsync", "cuMemCreate", "cudaMallocHost"} <= {
        call["api"] for call in calls}
    assert device["peak_allocated_bytes"] == said["peak"]
    owners = {one["owner"]: one["peak_bytes"] for one in device["outside_pool"]}
    assert owners["program"] == said["peak"]
    everything_is_explained(device)


@pytest.mark.slow
def test_jax(built, tmp_path):
    try:
        python = jax_python()
    except subprocess.CalledProcessError as why:
        pytest.skip(f"JAX cannot be installed: {why}")
    said, report, _ = traced([python, HERE / "jax_training.py"], tmp_path, env=JAX_VARIABLES,
                                 timeout=900)
    device = report["devices"][0]
    assert said["taken"] >= said["used"] > 50e6
    assert device["peak_allocated_bytes"] == said["taken"]
    owners = {one["owner"]: one["peak_bytes"] for one in device["outside_pool"]}
    assert owners["library:xla_cuda_plugin.so"] == said["taken"]
    everything_is_explained(device)
