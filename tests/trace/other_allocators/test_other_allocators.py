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


def test_what_a_program_in_c_never_frees(built, tmp_path):
    said, report, _ = traced([c_program(tmp_path, "keeps_results")], tmp_path)
    device, = report["devices"]
    site, = device["never_freed"]
    assert (site["bytes"], site["blocks"]) == (said["kept"], 100)
    source = (HERE / "keeps_results.c").read_text().splitlines()
    kept = next(number for number, text in enumerate(source, 1) if "// kept" in text)
    # From the call outwards.
    frames = [frame for frame in site["frames"] if frame["file"].endswith("/keeps_results.c")]
    assert frames[0]["line"] == kept
    assert [frame["function"] for frame in frames] == ["keep", "answer", "main"]
    words = " ".join(runs.report_text(runs.traces_in(tmp_path / "trace")).split())
    assert words.startswith("FITS SO FAR · ")
    assert f"100 blocks of keeps_results.c:{kept} keep (100 MiB) were never freed" in words


def test_what_a_program_in_c_frees(built, tmp_path):
    _, report, _ = traced([c_program(tmp_path, "keeps_results"), "frees"], tmp_path)
    assert report["devices"][0]["never_freed"] == []
    assert runs.report_text(runs.traces_in(tmp_path / "trace")).startswith("FITS · ")


def test_what_a_program_in_python_without_pytorch_never_frees(built, tmp_path):
    program = HERE / "keeps_results.py"
    said, report, _ = traced([runs.python(), program], tmp_path)
    device, = report["devices"]
    site, = device["never_freed"]
    assert (site["bytes"], site["blocks"]) == (said["kept"], 100)
    kept = 1 + next(i for i, text in enumerate(program.read_text().splitlines()) if "# kept" in text)
    words = " ".join(runs.report_text(runs.traces_in(tmp_path / "trace")).split())
    assert words.startswith("FITS SO FAR · ")
    assert f"100 blocks of keeps_results.py:{kept} answer (100 MiB) were never freed" in words


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
@pytest.mark.parametrize("allocator", ["default", "cuda_async"])
def test_jax(built, tmp_path, allocator):
    try:
        python = jax_python()
    except subprocess.CalledProcessError as why:
        pytest.skip(f"JAX cannot be installed: {why}")
    variables = JAX_VARIABLES | {"XLA_PYTHON_CLIENT_ALLOCATOR": allocator}
    said, report, _ = traced([python, HERE / "jax_training.py"], tmp_path, env=variables, timeout=900)
    device = report["devices"][0]
    assert said["used"] > 50e6
    # Without a pool of XLA's own each array has its line, and the batches are steps.
    taken = said["used"] if allocator == "cuda_async" else said["taken"]
    assert device["peak_allocated_bytes"] == taken >= said["used"]
    owners = {one["owner"]: one["peak_bytes"] for one in device["outside_pool"]}
    assert owners["library:xla_cuda_plugin.so"] == taken
    if allocator == "cuda_async":
        words = runs.report_text(runs.traces_in(tmp_path / "trace"))
        assert "Steps: 4, inferred" in words and "jax_training.py:" in words
    everything_is_explained(device)
