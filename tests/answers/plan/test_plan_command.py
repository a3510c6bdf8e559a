# SPDX-License-Identifier: Apache-2.0
"""memtrace plan: what it says of a server's starts is what the server itself said and held."""

import json
import re
import socket
import subprocess
from pathlib import Path

import jsonschema
import pytest

import runs

HERE = Path(__file__).resolve().parent
SCHEMA = json.loads((runs.ROOT / "analyzer/plan/serve/plan.schema.json").read_text())
A_TOKEN = 64 << 10
pytestmark = pytest.mark.skipif(runs.on_real_gpu(), reason="it simulates GPUs of several sizes")


@pytest.fixture(scope="module")
def place(built, tmp_path_factory):
    """A folder with a command `vllm`, its package with the one function, and a model's configuration."""
    folder = tmp_path_factory.mktemp("plan")
    package = folder / "packages/vllm/v1/worker"
    package.mkdir(parents=True)
    (package / "utils.py").write_text("import torch\n\n\ndef allocate_kv_cache(size):\n"
                                      "    return torch.zeros(size, dtype=torch.int8, device='cuda')\n")
    program = folder / "vllm"
    program.write_text(f"#!{runs.python()}\nimport runpy, sys\nsys.path[:0] = [{str(HERE)!r}, {str(folder / 'packages')!r}]\n"
                       f"runpy.run_path({str(HERE / 'stand_in.py')!r}, run_name='__main__')\n")
    program.chmod(0o755)
    (folder / "model").mkdir()
    (folder / "model/config.json").write_text("{}")
    return folder


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def plan(place: Path, *options, server=(), timeout=200) -> subprocess.CompletedProcess:
    line = [runs.memtrace(), "plan", *options, "--", place / "vllm", "serve", place / "model", "--port", free_port(), *server]
    return subprocess.run([str(part) for part in line], check=False, capture_output=True, text=True, cwd=place,
                          env=runs.environment(), timeout=timeout)


def cells_of(path: Path) -> dict:
    document = json.loads(path.read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


@pytest.fixture(scope="module")
def planned(place):
    done = plan(place, "--gpu", "rtx3060:4GiB,rtx3090:8GiB", "--vary", "length=--max-model-len 8192|--max-model-len 65536",
                "--requests", 10, "--tokens", 8000, "--json", "plan.json", "-o", "starts")
    assert done.returncode == 0, done.stderr
    return done, cells_of(place / "plan.json")


def test_each_start_says_what_its_server_said(planned, place):
    done, document = planned
    small, small_long, large, large_long = document["cells"]
    assert [one["starts"] for one in document["cells"]] == [True, False, True, True]
    for number, one in enumerate(document["cells"], 1):
        output, = (place / "starts" / str(number)).rglob("output.txt")
        said = re.search(r"GPU KV cache size: ([\d,]+) tokens", output.read_text())
        assert (said and int(said[1].replace(",", ""))) == one["kv_cache_tokens"]
    for one in (small, large, large_long):
        assert one["kv_cache_bytes"] == one["kv_cache_tokens"] * A_TOKEN
        assert one["weights_bytes"] == 1 << 30
        assert one["devices"] == 1
        # It gives itself 90 %, and PyTorch's pool is rounded up to 2 MiB.
        assert 0 <= one["left_bytes"] - one["gpu_bytes"] * 0.1 + (2 << 20) < 4 << 20
        assert sum(part["bytes"] for part in one["shares"]) == one["used_bytes"]
    assert small_long["why_not"].startswith("ValueError: To serve at least one request with the model's max seq len (65536)")
    assert large_long["longest_request_tokens"] == 65536
    assert large_long["requests_at_once"] == pytest.approx(large_long["kv_cache_tokens"] / 65536, abs=0.005)


def test_the_smallest_that_serves(planned):
    done, document = planned
    assert [one["serves"] for one in document["cells"]] == [False, False, True, True]
    assert document["smallest_that_serves"] == 2
    assert re.search(r"^The least GPU memory that holds 10 requests of 8,000 tokens at once: rtx3090:8GiB, --max-model-len 8192.$",
                     done.stdout, re.M)


def test_another_plan_is_not_mixed_in(planned, place):
    done = plan(place, "--gpu", "rtx3060:4GiB", "-o", "starts")
    assert done.returncode == 1
    assert done.stderr.endswith("starts holds the starts of another plan: name another directory with -o\n")


def test_what_was_added_is_said(planned):
    done, _ = planned
    assert done.stderr.count("started with --load-format dummy: no weights are read") == 1
    assert done.stderr.count("started with --skip-tokenizer-init") == 1


def test_memory_that_runs_out_is_told_with_its_line(place):
    done = plan(place, "--gpu", "rtx3060:2GiB", "--json", "oom.json", server=["--weights-gib", 3])
    assert done.returncode == 0, done.stderr
    cell, = cells_of(place / "oom.json")["cells"]
    assert not cell["starts"]
    assert re.search(r"at stand_in\.py:\d+ main: 3 GiB wanted", cell["why_not"])


def test_a_program_that_ends_by_itself_has_started(place):
    done = plan(place, "--gpu", "rtx3060:4GiB", server=["--end", "return"])
    assert done.returncode == 0, done.stderr
    assert re.search(r"^rtx3060:4GiB +yes ", done.stdout, re.M)


def test_a_start_that_takes_too_long(place):
    done = plan(place, "--gpu", "rtx3060:4GiB", "--timeout", 12, server=["--end", "hang"])
    assert done.returncode == 0, done.stderr
    assert "it took no connections within 12 s: give it more with --timeout" in done.stdout


@pytest.mark.parametrize("arguments, sentence", [
    (["--gpu", "rtx3090", "--requests", "4", "--", "vllm", "serve", "m"], "--requests 32 and --tokens 8192, of each of them, go together"),
    (["--gpu", "rtx3090"], "put the server after --: memtrace plan --gpu h100-80 -- vllm serve ./model"),
    (["--gpu", "gtx1", "--", "vllm", "serve", "m"], "gtx1"),
    (["--gpu", "rtx3090", "--budget", "soon", "--", "vllm", "serve", "m"], "--budget soon: write 90s, 10m or 2h"),
])
def test_wrong_usage_is_one_sentence(built, arguments, sentence):
    said = runs.memtrace_says("plan", *arguments)
    assert said.returncode == 2
    assert sentence in said.stderr and said.stderr.count("\n") == 1


def test_a_program_that_is_not_there_is_said_and_the_others_are_kept(place):
    said = runs.memtrace_says("plan", "--gpu", "rtx3090", "--", "no-such-server", "serve", cwd=place)
    assert said.returncode == 1
    assert "no-such-server cannot be started" in said.stdout + said.stderr
