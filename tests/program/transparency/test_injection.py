# SPDX-License-Identifier: Apache-2.0
"""However a training is started, its trace has the names and the steps: nothing but LD_PRELOAD."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import runs
from observed import PROGRAMS, facts, script
from pairs import events

pytestmark = pytest.mark.usefixtures("built")

WEIGHTS = {"words.weight", "blocks.0.norm.weight", "blocks.0.norm.bias", "blocks.0.weights.0",
           "blocks.0.weights.1", "blocks.2.norm.weight", "blocks.2.norm.bias",
           "blocks.2.weights.0", "blocks.2.weights.1"}
BUFFERS = {"scale", "blocks.0.norm.running_mean", "blocks.2.norm.running_var"}
MODULES = {"blocks", "blocks.0", "blocks.0.norm", "blocks.2"}
STEPS = 3
TRAINS = (PROGRAMS / "trains.py").read_text()
HERE = {"MODELS": str(PROGRAMS)}


def without_prefix(name: str) -> str:
    return name.removeprefix("module.")  # DistributedDataParallel's


def has_names_and_steps(trace: Path, steps: int = STEPS) -> dict[str, str]:
    lines = events(trace)
    assert facts(lines).get("agent") == "on"

    def names(role):
        return {without_prefix(line["name"]) for line in lines
                if line["kind"] == "storage" and line["role"] == role}

    # The tied weight has two names; which of them is used is nobody's promise.
    assert names("parameter") - {"head.weight"} >= WEIGHTS - {"words.weight"}
    assert names("parameter") & {"head.weight", "words.weight"}
    assert names("buffer") >= BUFFERS
    states = {line["detail"] for line in lines
              if line["kind"] == "storage" and line["role"] == "optimizer_state"}
    assert states >= {"exp_avg", "exp_avg_sq"}
    paths = {without_prefix(line["path"]) for line in lines if line["kind"] == "module"}
    assert paths >= MODULES
    assert sum(line["kind"] == "step" for line in lines) == steps
    return facts(lines)


def run(command, output: Path, text: str | None = None, **how) -> runs.Outcome:
    """With `text` on standard input."""
    if text is not None:
        source = output.with_suffix(".py")
        source.write_text(text)
        command = ["sh", "-c", 'exec "$@" < "$0"', str(source), *map(str, command)]
    return runs.run(command, output, **how).expect(0)


def trained(outcome: runs.Outcome, traces: int = 1) -> None:
    assert len(outcome.traces) == traces
    for trace in outcome.traces:
        has_names_and_steps(trace)


def virtual_environment(folder: Path) -> Path:
    """A new one, with a sitecustomize of its own, that finds torch where the tests' Python has it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    search = "import sysconfig; print(sysconfig.get_path('purelib'))"
    torch = subprocess.run([runs.python(), "-c", search], check=True, capture_output=True, text=True)
    (packages / "torch.pth").write_text(torch.stdout)
    (packages / "sitecustomize.py").write_text("print('customized', flush=True)\n")
    return folder / "bin" / "python"


@pytest.mark.slow
def test_isolated_in_a_virtual_environment_with_a_sitecustomize(tmp_path):
    python = virtual_environment(tmp_path / "venv")
    outcome = run([python, "-I", "-c", TRAINS], tmp_path / "trace", env=HERE)
    assert outcome.stdout.split() == [b"customized", b"trained"]
    trained(outcome)


@pytest.mark.slow
def test_standard_input_and_a_sitecustomize_of_the_user(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('customized', flush=True)\n")
    environment = {**HERE, "PYTHONPATH": str(tmp_path)}
    outcome = run([runs.python(), "-"], tmp_path / "trace", TRAINS, env=environment)
    assert outcome.stdout.split() == [b"customized", b"trained"]
    trained(outcome)


@pytest.mark.slow
def test_thread_beside_a_blocked_main_thread(tmp_path):
    outcome = runs.run(script("trains_in_a_thread"), tmp_path / "trace").expect(0)
    assert len(outcome.traces) == 1
    assert facts(events(outcome.traces[0])).get("agent") == "on"
    assert sum(line["kind"] == "step" for line in events(outcome.traces[0])) >= STEPS


def test_spawned_processes(tmp_path):
    outcome = runs.run(script("spawns"), tmp_path / "trace").expect(0)
    assert outcome.stdout.endswith(b"[0, 0]\n")
    trained(outcome, traces=2)


def test_ranks_of_torchrun(tmp_path):
    command = [runs.python(), "-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=0",
               "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0",
               *script("trains_distributed", "torchrun")[1:]]
    outcome = runs.run(command, tmp_path / "trace", env={"OMP_NUM_THREADS": "1"}, devices=2).expect(0)
    trained(outcome, traces=2)


@pytest.mark.slow
@pytest.mark.parametrize("options", [["-m", "trains"], ["-s", "-E"], ["-O"], ["-X", "dev"], ["-v"]],
                         ids=" ".join)
def test_options_of_python(tmp_path, options):
    arguments = options if "-m" in options else [*options, PROGRAMS / "trains.py"]
    trained(runs.run([runs.python(), *arguments], tmp_path / "trace", cwd=PROGRAMS).expect(0))


@pytest.mark.slow
def test_accelerate_launch(tmp_path):
    command = [runs.python(), "-m", "accelerate.commands.launch", "--num_processes=1", "--num_machines=1",
               "--mixed_precision=bf16", "--dynamo_backend=no", "--num_cpu_threads_per_process=1",
               *script("trains_distributed", "accelerate")[1:]]
    trained(runs.run(command, tmp_path / "trace").expect(0))


@pytest.mark.slow
def test_kernel_of_a_notebook(tmp_path):
    """Where ipykernel and nbclient are installed; they are none of the tests' requirements."""
    found = subprocess.run([runs.python(), "-c", "import ipykernel, nbclient, nbformat"],
                           capture_output=True, check=False)
    if found.returncode != 0:
        pytest.skip("ipykernel and nbclient are not installed")
    cells = [TRAINS.replace("if __name__ == \"__main__\":\n    main()", "1"), "main()", "1 + 1"]
    notebook = {"cells": [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
                           "source": cell} for cell in cells],
                "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (tmp_path / "training.ipynb").write_text(json.dumps(notebook))
    code = ("import nbformat; from nbclient import NotebookClient; "
            "book = nbformat.read('training.ipynb', 4); NotebookClient(book, kernel_name='python3').execute(); "
            "print(book.cells[1].outputs[0].text)")
    outcome = runs.run([runs.python(), "-c", code], tmp_path / "trace", cwd=tmp_path, env=HERE).expect(0)
    assert outcome.stdout.startswith(b"trained")
    trained(outcome)
