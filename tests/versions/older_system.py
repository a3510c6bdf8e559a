# SPDX-License-Identifier: Apache-2.0
"""An older Linux in a folder of its own, by debootstrap: Debian 11, with glibc 2.31 and Python 3.9.
Made once, in build/debian-11, from the mirror that MEMTRACE_DEBIAN names or debootstrap's own."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import runs

RELEASE = "bullseye"
MIRROR = [os.environ["MEMTRACE_DEBIAN"]] if "MEMTRACE_DEBIAN" in os.environ else []
TORCH = "2.8.0"  # the last with wheels for Python 3.9
# What torch imports, in the last releases for Python 3.9.
IMPORTED = ["filelock", "typing-extensions", "sympy", "mpmath", "networkx==3.2.1", "jinja2", "markupsafe",
            "fsspec", "numpy==2.0.2", "packaging"]
PRODUCTS = ["memtrace", "libmemtrace.so", "simulator/cuda12/libmemtrace_cuda.so",
            "simulator/cuda13/libmemtrace_cuda.so", "simulator/libmemtrace_watchdog.so"]


class Unavailable(Exception):
    """It cannot be made on this machine."""


def newest_glibc(version_needs: str) -> tuple[int, ...]:
    """The newest version of glibc that `readelf --version-info` names."""
    found = re.findall(r"Name: GLIBC_(\d+(?:\.\d+)+)", version_needs)
    return max((tuple(map(int, version.split("."))) for version in found), default=())


def version_needs(binary: Path) -> str:
    return subprocess.run(["readelf", "--version-info", "--wide", str(binary)], check=True,
                          capture_output=True, text=True).stdout


class OlderSystem:
    def __init__(self, root: Path):
        self.root = root

    @property
    def packages(self) -> Path:
        return self.root / "usr/local/lib/python3.9/dist-packages"

    def take(self, built: Path) -> None:
        """Today's products, laid out as in a build folder, at /memtrace."""
        for name in PRODUCTS:
            to = self.root / "memtrace" / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(built / name, to)

    def run(self, script: str) -> runs.Outcome:
        """In its root, with a /proc and shared memory of its own."""
        enter = ('mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" && '
                 'exec chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root /bin/sh -c "cd /tmp; $2"')
        done = subprocess.run(["unshare", "--mount", "/bin/sh", "-c", enter, "sh", str(self.root), script],
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return runs.Outcome(done.returncode, done.stdout, done.stderr)

    def install_torch(self) -> None:
        if (self.packages / "torch").exists():
            return
        pip = [runs.python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--no-compile", "--target", str(self.packages), "--python-version", "3.9",
               "--only-binary=:all:", "--platform"]
        subprocess.run([*pip, "manylinux2014_x86_64", *IMPORTED], check=True)
        subprocess.run([*pip, "manylinux_2_28_x86_64", f"torch=={TORCH}"], check=True)


def make() -> OlderSystem:
    system = OlderSystem(runs.ROOT / "build" / "debian-11")
    if os.geteuid() != 0:
        raise Unavailable("needs root, to make an older system's root")
    install(system.root)
    entered = system.run("true")
    if entered.status != 0:
        raise Unavailable(f"an older system's root cannot be entered here: {entered.stderr.decode()[-300:]}")
    return system


def install(root: Path) -> None:
    done = root / "memtrace.made"
    if done.exists():
        return
    if shutil.which("debootstrap") is None:
        raise Unavailable("debootstrap is not installed, which makes an older system's root")
    shutil.rmtree(root, ignore_errors=True)
    made = subprocess.run(["debootstrap", "--variant=minbase", "--include=python3", RELEASE, str(root), *MIRROR],
                          capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Unavailable(f"debootstrap could not make {RELEASE}: {made.stdout[-300:]}")
    done.touch()
