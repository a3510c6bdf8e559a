# SPDX-License-Identifier: Apache-2.0
"""Runs programs with and without memtrace, on the simulated GPU or on a real one, and reads traces.

MEMTRACE_BUILD       the build to test (default: build/release)
MEMTRACE_PYTHON      the interpreter that has torch (default: .venv, else the running one)
MEMTRACE_REAL_GPU=1  the machine's own GPU instead of the simulated one

A program starts cold here: for tests of the start itself. warm.py forks it from an interpreter that has imported torch,
and recordings.py keeps what was recorded; both take what `run` takes.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GPU = "rtx3090"


def build() -> Path:
    return Path(os.environ.get("MEMTRACE_BUILD", ROOT / "build" / "release")).absolute()


def memtrace() -> Path:
    return build() / "memtrace"


def library() -> Path:
    return build() / "libmemtrace.so"


def python() -> str:
    installed = ROOT / ".venv" / "bin" / "python"
    return os.environ.get("MEMTRACE_PYTHON") or str(installed if installed.exists() else sys.executable)


def on_real_gpu() -> bool:
    return os.environ.get("MEMTRACE_REAL_GPU") == "1"


@dataclass
class Outcome:
    status: int  # negative: the signal that ended it
    stdout: bytes
    stderr: bytes
    traces: list[Path] = field(default_factory=list)
    copies: dict[Path, Path] = field(default_factory=dict)  # of folders whose copies ran (recordings.py)

    def ran(self, program: Path) -> Path:
        """The file of the program that ran, as it stands in frames."""
        return self.copies.get(program.parent, program.parent) / program.name

    def expect(self, status: int) -> "Outcome":
        assert self.status == status, (
            f"exit status {self.status}, expected {status}\n--- stdout\n"
            f"{self.stdout.decode(errors='replace')[-2000:]}\n--- stderr\n"
            f"{self.stderr.decode(errors='replace')[-6000:]}"
        )
        return self


def environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """Ours without what would change the run; None as a value takes a variable away."""
    # pytest's own variable comes and goes while other threads ask.
    clean = {
        name: value for name in list(os.environ) if (value := os.environ.get(name)) is not None
        and not name.startswith(("MEMTRACE_", "PYTORCH_", "PYTEST_CURRENT_TEST")) and name != "LD_PRELOAD"
    }
    # A third to a half of every run's processor time would go into compiling torch's sources anew;
    # nothing is written beside the tests' own programs.
    clean.pop("PYTHONDONTWRITEBYTECODE", None)
    clean["PYTHONPYCACHEPREFIX"] = str(ROOT / "build" / "pycache")
    # A forked process waits so long at its end for threads that it does not have: 10 s without this.
    clean["TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT"] = "1"
    clean.update(extra or {})
    return clean


def command_line(command: list[str], output: Path | None, gpu: str = GPU,
                 memory: str | None = None, devices: int = 1,
                 world: tuple[int, str] | None = None) -> tuple[list[str], dict[str, str]]:
    """The command and the variables that run `command`: traced into `output`, or bare (None).

    `world`: ranks of it, as ranks 0 and last of 512: (512, "0,last").
    """
    if on_real_gpu():
        if output is None:
            return command, {}
        return command, {"LD_PRELOAD": str(library()), "MEMTRACE_OUTPUT": str(output)}
    line = [str(memtrace()), "dry-run", "--gpu", gpu]
    if memory:
        line += ["--memory", memory]
    if devices != 1:
        line += ["--devices", str(devices)]
    if world:
        line += ["--world-size", str(world[0]), "--ranks", world[1]]
    line += ["--bare"] if output is None else ["--no-report", "--output", str(output)]
    return [*line, "--", *command], {}


def start(command: list[str], output: Path | None, *, env: dict[str, str] | None = None,
          cwd: Path | None = None, pass_fds=(), preexec_fn=None, **machine) -> subprocess.Popen:
    line, variables = command_line([str(part) for part in command], output, **machine)
    return subprocess.Popen(
        line, env=environment({**variables, **(env or {})}), cwd=cwd, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=pass_fds, preexec_fn=preexec_fn,
    )


def finish(process: subprocess.Popen, output: Path | None, timeout: float = 300) -> Outcome:
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        stdout, stderr = process.communicate()
        raise AssertionError(
            f"still running after {timeout} s\n{stderr.decode(errors='replace')[-4000:]}"
        ) from None
    return Outcome(process.returncode, stdout, stderr, traces_in(output) if output else [])


def run(command: list[str], output: Path | None, timeout: float = 300, **how) -> Outcome:
    return finish(start(command, output, **how), output, timeout)


def traces_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.mtrace")) if folder.is_dir() else []


def dump(trace: Path, stacks: bool = True, last: int = 0) -> list[dict]:
    """Its lines: all, or so many of the last."""
    line = [str(memtrace()), "dump", str(trace)]
    if not stacks:
        line.append("--no-stacks")
    printed = subprocess.run(line, capture_output=True, env=environment(), check=False)
    assert printed.returncode == 0, printed.stderr.decode(errors="replace")
    return [json.loads(text) for text in printed.stdout.splitlines()[-last:]]


def report(traces: list[Path], folder: Path) -> dict:
    target = folder / "report.json"
    subprocess.run(
        [str(memtrace()), "report", *map(str, traces), "--json", str(target)],
        check=True, capture_output=True, env=environment(),
    )
    made = json.loads(target.read_text())
    check_device_sums(made)
    return made


def check_device_sums(made: dict) -> None:
    """On each device, what was in use is the sum of who held it; on the simulated GPU nothing is
    left unexplained, where no other process came and went meanwhile."""
    for device in made["devices"]:
        used = device["used"]
        if used is None:
            continue
        parts = sum(one["bytes"] for one in used["parts"])
        assert used["used_bytes"] == parts + device["unexplained_bytes"]
        alone = len(made["processes"]) == 1 and not any(
            one["part"] == "other_processes" for one in used["parts"])
        if made["run"]["simulated"] and alone and made["completeness"]["clean_exit"]:
            # As measured, nothing says what PyTorch's first kernel takes (simulator/constants.def).
            first_kernel = 92 << 20 if "H100" in device["name"] or "H200" in device["name"] else 0
            assert device["unexplained_bytes"] in (0, first_kernel), used


def memtrace_says(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess:
    """The command with these arguments; what it prints is text."""
    return subprocess.run([memtrace(), *map(str, arguments)], capture_output=True, text=True, env=environment(), check=False, cwd=cwd)


def document(validator, *arguments: object) -> dict:
    """The document that the command with these arguments gives to programs, which is as its schema says."""
    done = memtrace_says(*arguments, "--json", "-")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    validator.validate(made)
    return made


def report_text(traces: list[Path]) -> str:
    return subprocess.run([str(memtrace()), "report", *map(str, traces)], check=True,
                          capture_output=True, text=True, env=environment()).stdout


def preloaded(command: list[str]) -> list[str]:
    """The command as a user writes it who sets LD_PRELOAD himself; to be run bare (output None)."""
    text = f'LD_PRELOAD="{library()}${{LD_PRELOAD:+:$LD_PRELOAD}}" exec "$@"'
    return ["sh", "-c", text, "sh", *map(str, command)]
