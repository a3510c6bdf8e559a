# SPDX-License-Identifier: Apache-2.0
"""Virtual environments with one version of PyTorch for one Python: .venv-VERSION-pyPYTHON in the
repository's root, made once (half a gigabyte to fetch, two on disk) and kept."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import runs

# torch is installed without its gigabytes of NVIDIA libraries; this is what it imports besides.
IMPORTED = [
    "filelock", "typing-extensions", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "fsspec",
    "numpy", "setuptools", "packaging",
]
DONE = "memtrace.installed"


class Unavailable(Exception):
    """No such interpreter here, or no such wheel for it."""


@dataclass(frozen=True)
class Version:
    torch: str
    python: str  # "3.11"

    @property
    def name(self) -> str:
        return f"{self.torch}-py{self.python}"

    @property
    def folder(self) -> Path:
        return runs.ROOT / f".venv-{self.name}"


# The index's releases for Linux on x86-64. 2.15.0 is the newest, without wheels for 3.10.
TORCH = ["2.3.1", "2.4.1", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1",
         "2.13.0", "2.14.1", "2.15.0"]
# These under every Python and setting, the others under one.
THOROUGHLY = {"2.6.0", "2.8.0", "2.11.0", "2.15.0"}
OLDEST, NEWEST = "2.6.0", "2.15.0"
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
ONE_PYTHON = "3.11"
NO_WHEEL = {("2.15.0", "3.10")}


def running_python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def interpreter(python: str) -> str:
    """One of that minor version: on PATH, or kept by pyenv."""
    if python == running_python():
        return sys.executable
    found = shutil.which(f"python{python}")
    # pyenv's stand-in on PATH fails where the version is installed but not chosen.
    if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
        return found
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = sorted(root.glob(f"{python}.*/bin/python"))
    if not kept:
        raise Unavailable(f"no python{python} here")
    return str(kept[-1])


def installed(wanted: Version) -> str:
    """The interpreter of the environment, which is made where it is missing."""
    python = wanted.folder / "bin" / "python"
    if (wanted.folder / DONE).exists():
        return str(python)
    if (wanted.torch, wanted.python) in NO_WHEEL:
        raise Unavailable(f"no wheel of PyTorch {wanted.torch} for Python {wanted.python}")
    subprocess.run([interpreter(wanted.python), "-m", "venv", str(wanted.folder)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
           "--no-deps", "--no-compile"]
    subprocess.run([*pip, f"torch=={wanted.torch}", *IMPORTED], check=True)
    (wanted.folder / DONE).touch()
    return str(python)
