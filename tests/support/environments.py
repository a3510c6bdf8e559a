# SPDX-License-Identifier: Apache-2.0
"""Virtual environments with one version of PyTorch for one Python: .venv-VERSION-pyPYTHON in the
repository's root, made once (half a gigabyte to fetch, two on disk) and kept."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import interpreters
import runs

# torch is installed without its gigabytes of NVIDIA libraries; this is what it imports besides.
IMPORTED = [
    "filelock", "typing-extensions", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "fsspec",
    "numpy", "setuptools", "packaging",
]
PLATFORMS = ["manylinux2014_x86_64", "manylinux_2_27_x86_64", "manylinux_2_28_x86_64"]
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
PYTHONS = interpreters.VERSIONS[1:]
ONE_PYTHON = "3.11"
NO_WHEEL = {("2.15.0", "3.10"), ("2.6.0", "3.14"), ("2.8.0", "3.14"),
            *((torch, "3.15") for torch in ("2.6.0", "2.8.0", "2.11.0"))}


def installed(wanted: Version) -> str:
    """The interpreter of the environment, which is made where it is missing."""
    python = wanted.folder / "bin" / "python"
    if (wanted.folder / DONE).exists():
        return str(python)
    if (wanted.torch, wanted.python) in NO_WHEEL:
        raise Unavailable(f"no wheel of PyTorch {wanted.torch} for Python {wanted.python}")
    found = interpreters.find(wanted.python)
    if found is None:
        raise Unavailable(f"no python{wanted.python} here")
    # Debian's interpreters come without pip, and this one's own may be too old to run in them.
    subprocess.run([found, "-m", "venv", "--without-pip", str(wanted.folder)], check=True)
    packages = wanted.folder / "lib" / f"python{wanted.python}" / "site-packages"
    subprocess.run([runs.python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
                    "--no-compile", "--target", str(packages), "--python-version", wanted.python,
                    "--ignore-requires-python", "--only-binary=:all:",
                    *(word for platform in PLATFORMS for word in ("--platform", platform)),
                    "pip", f"torch=={wanted.torch}", *IMPORTED], check=True)
    (wanted.folder / DONE).touch()
    return str(python)
