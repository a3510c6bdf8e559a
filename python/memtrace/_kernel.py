# SPDX-License-Identifier: Apache-2.0
"""memtrace kernel install: a kernel for Jupyter whose process memtrace records."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path

KERNEL = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]


def main(arguments: list[str], program: Path) -> None:
    """`program` is the native command."""
    parser = argparse.ArgumentParser(
        prog="memtrace kernel", description="A kernel for Jupyter notebooks that memtrace records")
    commands = parser.add_subparsers(dest="command", required=True, metavar="install")
    install = commands.add_parser("install", help="make the kernel known to Jupyter")
    install.add_argument("--name", default="memtrace", help="its name for commands (default: memtrace)")
    install.add_argument("--display-name", help="its name in menus")
    install.add_argument("--gpu", help="simulate this GPU, as memtrace dry-run does (memtrace dry-run --gpu list)")
    install.add_argument("--output", help="directory for the traces (default: where the notebook runs)")
    where = install.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user, in every environment")
    where.add_argument("--prefix", help="below this directory (default: this Python's environment)")
    chosen = parser.parse_args(arguments)
    if not re.fullmatch(r"[A-Za-z0-9._-]+", chosen.name):
        sys.exit(f"memtrace: {chosen.name!r} is no name for a kernel; use letters, digits, dots, hyphens, underscores")
    _check_gpu(chosen.gpu, program)
    folder = _kernels(chosen) / chosen.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kernel.json").write_text(json.dumps(spec(chosen, program), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        sys.exit(f"memtrace: {folder} cannot be written ({error.strerror}); choose --user, or another --prefix")
    print(f"Wrote {folder / 'kernel.json'}; choose the kernel \"{_title(chosen)}\" in Jupyter, then %load_ext memtrace")
    _warn_without_ipykernel()


def spec(chosen, program: Path) -> dict:
    """The kernelspec.

    memtrace is the parent of the kernel, as the preloading, the simulated GPU and what belongs to a
    run come from it. Jupyter signals the whole group of processes, and memtrace hands signals on: an
    interrupt would come twice. As a message it comes once.
    """
    line = [str(program), *(["dry-run", "--gpu", chosen.gpu] if chosen.gpu else ["run"]), "--no-report"]
    if chosen.output:
        line += ["--output", os.path.abspath(chosen.output)]
    made = {
        "argv": [*line, "--", sys.executable, *KERNEL],
        "display_name": _title(chosen),
        "language": "python",
        "interrupt_mode": "message",
        "metadata": {"debugger": True},
    }
    package = Path(__file__).resolve().parent
    if not _is_installed(package):
        made["env"] = {"PYTHONPATH": str(package.parent)}
    return made


def _is_installed(package: Path) -> bool:
    """Whether the kernel's Python finds the package by itself, and not by our PYTHONPATH."""
    return package.parent.name in ("site-packages", "dist-packages")


def _title(chosen) -> str:
    simulated = f", simulated {chosen.gpu}" if chosen.gpu else ""
    return chosen.display_name or f"Python 3 (memtrace{simulated})"


def _kernels(chosen) -> Path:
    if chosen.user:
        data = os.environ.get("JUPYTER_DATA_DIR") or _platform_data()
        return Path(data) / "kernels"
    return Path(os.path.abspath(chosen.prefix or sys.prefix)) / "share" / "jupyter" / "kernels"


def _platform_data() -> Path:
    try:
        from jupyter_core.paths import jupyter_data_dir

        return Path(jupyter_data_dir())
    except ImportError:
        return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "jupyter"


def _check_gpu(gpu, program: Path) -> None:
    """The command itself says what is wrong with the GPU's name."""
    if gpu is None:
        return
    import subprocess

    tried = subprocess.run([str(program), "dry-run", "--gpu", gpu, "--bare", "--", "true"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if tried.returncode != 0:
        sys.exit(tried.stderr.strip() or f"memtrace: {program} cannot simulate {gpu}; see memtrace dry-run --gpu list")


def _warn_without_ipykernel() -> None:
    import importlib.util

    if importlib.util.find_spec("ipykernel") is None:
        print("memtrace: ipykernel is not installed, and the kernel needs it: "
              f"{sys.executable} -m pip install ipykernel", file=sys.stderr)
