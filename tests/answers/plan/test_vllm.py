# SPDX-License-Identifier: Apache-2.0
"""memtrace plan and report with the real vLLM: its own figures, and those that follow from a model's configuration."""

import json
import re
import subprocess
from pathlib import Path

import pytest

import engine_here
import runs

pytestmark = [pytest.mark.slow, pytest.mark.skipif(runs.on_real_gpu(), reason="it simulates GPUs of several sizes")]
FAMILIES = [one.stem for one in sorted((engine_here.HERE / "models").glob("*.json"))]
# Bytes of keys and values of one token: of the latent vector and the rotated part where attention is latent.
A_TOKEN = {
    "llama-2-7b": lambda of: 2 * 2 * of["num_hidden_layers"] * of["num_key_value_heads"] * 128,
    "llama-3.1-8b": lambda of: 2 * 2 * of["num_hidden_layers"] * of["num_key_value_heads"] * 128,
    "qwen3-30b-a3b": lambda of: 2 * 2 * of["num_hidden_layers"] * of["num_key_value_heads"] * of["head_dim"],
    "deepseek-v2-lite": lambda of: 2 * of["num_hidden_layers"] * (of["kv_lora_rank"] + of["qk_rope_head_dim"]),
    "qwen2.5-7b-awq": lambda of: 2 * 2 * of["num_hidden_layers"] * of["num_key_value_heads"] * 128,
}


def plan(folder: Path, *words, server) -> tuple[list[dict], subprocess.CompletedProcess]:
    line = [runs.memtrace(), "plan", "--json", folder / "plan.json", "-o", folder / "starts", *words, "--", *server]
    done = subprocess.run([str(word) for word in line], env=engine_here.environment(), capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "plan.json").read_text())["cells"], done


@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_are_vllms_and_the_cache_is_theirs(built, tmp_path, family):
    server = ["vllm", "serve", engine_here.model(tmp_path, family), "--enforce-eager", "--max-model-len", 4096, "--port", 8137]
    (cell,), _ = plan(tmp_path, "--gpu", "h100-80", server=server)
    output, = (tmp_path / "starts").rglob("output.txt")
    said = re.search(r"GPU KV cache size: ([\d,]+) tokens", output.read_text())
    assert cell["starts"] and cell["kv_cache_tokens"] == int(said[1].replace(",", ""))
    if family in A_TOKEN:
        configuration = json.loads((engine_here.HERE / f"models/{family}.json").read_text())
        # PyTorch leaves a rest of up to 1 MiB with a large block.
        assert 0 <= cell["kv_cache_bytes"] - cell["kv_cache_tokens"] * A_TOKEN[family](configuration) <= 1 << 20
    # It gives itself 92 %, out of which the activations of its trial run are free again; its sampler's come later.
    given = 0.92 * cell["gpu_bytes"]
    assert cell["kv_cache_bytes"] + cell["weights_bytes"] < given and cell["used_bytes"] < given + (1 << 30)


def test_tensor_parallel_takes_as_many_gpus(built, tmp_path):
    server = ["vllm", "serve", engine_here.model(tmp_path, "llama-3.1-8b"), "--enforce-eager", "--max-model-len", 4096]
    (one, two), _ = plan(tmp_path, "--gpu", "l4", "--vary", "tp=--tensor-parallel-size 1|--tensor-parallel-size 2", server=server)
    assert (one["devices"], two["devices"]) == (1, 2)
    assert two["kv_cache_tokens"] > 4 * one["kv_cache_tokens"]


def test_an_engine_that_sleeps(built, tmp_path):
    """Twice; what vLLM says it has given back is what was asleep, but for the pages of its other tensors."""
    done = subprocess.run([str(runs.memtrace()), "dry-run", "--gpu", "h100-80", "-o", str(tmp_path / "traces"), "--", "python",
                           str(engine_here.HERE / "sleeping.py"), str(engine_here.model(tmp_path, "llama-3.1-8b"))],
                          env=engine_here.environment(), capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    freed = {float(one) for one in re.findall(r"sleep freed ([\d.]+) GiB memory in total", done.stdout)}
    report = runs.report(runs.traces_in(tmp_path / "traces"), tmp_path)
    device, = report["devices"]
    assert report["headline"]["state"] == "fits" and report["completeness"]["clean_exit"]
    both, = freed
    assert both == pytest.approx(device["asleep"]["bytes"] / 2**30, abs=0.05)
    held = {row["category"]: row["bytes"] for row in device["at_peak"]["categories"]}
    assert held["kv_cache"] + held["weights"] > 0.98 * device["at_peak"]["allocated_bytes"]
    assert not {"unused_parameters", "pinned_memory"} & {one["id"] for one in report["advice"]}
