# SPDX-License-Identifier: Apache-2.0
"""The real vLLM, in .venv-vllm of the repository's root, which is made where it is missing (5 GB on disk)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import runs

HERE = Path(__file__).resolve().parent
FOLDER = runs.ROOT / ".venv-vllm"


def python() -> str:
    interpreter, done = FOLDER / "bin/python", FOLDER / "memtrace.installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
        subprocess.run([str(interpreter), "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile",
                        "--disable-pip-version-check", "-r", str(HERE / "requirements-vllm.txt")], check=True)
        done.touch()
    return str(interpreter)


def environment() -> dict[str, str]:
    python()
    return runs.environment({"PATH": f"{FOLDER / 'bin'}{os.pathsep}{os.environ['PATH']}", "HF_HUB_OFFLINE": "1",
                             "VLLM_NO_USAGE_STATS": "1", "VLLM_USE_FLASHINFER_SAMPLER": "0"})


def model(folder: Path, name: str) -> Path:
    """A folder with the configuration of a model, and nothing else."""
    made = folder / name
    made.mkdir(exist_ok=True)
    shutil.copy(HERE / f"models/{name}.json", made / "config.json")
    return made
