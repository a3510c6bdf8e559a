# SPDX-License-Identifier: Apache-2.0
"""How each test of a foreign module ends, where a crash or a hang costs the one test alone."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import runs

DRIVER = Path(__file__).resolve().parent / "driver.py"
CRASHED, HUNG = "ended the process", "hung"


@dataclass(frozen=True)
class Module:
    """A foreign module, and what it takes to run it."""

    name: str
    paths: tuple[str, ...] = ()  # folders to import from, before any other
    brings_cuda: bool = False  # it uses the GPU by itself
    devices: int = 1
    silence_s: int = 240  # a test that lasts longer hangs
    cwd: str | None = None
    variables: tuple[tuple[str, str], ...] = ()


@dataclass
class Ended:
    """The outcome in one way, bare or traced."""

    tests: dict[str, str] = field(default_factory=dict)
    processes: int = 0
    traces: int = 0
    wrong: list[str] = field(default_factory=list)  # what is not as it should be in a trace
    seconds: float = 0.0


def said_in(file: Path) -> list[dict]:
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]


def end_group(process: subprocess.Popen) -> None:
    """The program and all that it left behind in its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def launch(module: Module, more: list[str], out: Path, log: Path, trace: Path | None) -> tuple[int | None, float]:
    """Exit status (None: it said nothing for too long), with everything it started ended."""
    command = [runs.python(), DRIVER, module.name, "--out", out, *more]
    if module.paths:
        command += ["--path", *module.paths]
    if not module.brings_cuda:
        command.append("--cuda")
    line, variables = runs.command_line([str(part) for part in command], trace, devices=module.devices)
    with tempfile.TemporaryDirectory() as scratch, open(log, "ab") as said:
        env = runs.environment({**variables, "TMPDIR": scratch, **dict(module.variables)})
        process = subprocess.Popen(line, env=env, cwd=module.cwd or scratch, stdin=subprocess.DEVNULL,
                                   stdout=said, stderr=said, start_new_session=True)
        began, size, since = time.monotonic(), 0, time.monotonic()
        while process.poll() is None and time.monotonic() - since < module.silence_s:
            time.sleep(0.2)
            now = out.stat().st_size if out.exists() else 0
            if now != size:
                size, since = now, time.monotonic()
        status = process.poll()
        end_group(process)
        return status, time.monotonic() - began


def tests_in(module: Module, folder: Path) -> list[str]:
    out = folder / "list.jsonl"
    status, _ = launch(module, ["--list"], out, folder / "list.log", None)
    said = said_in(out)
    if not said:
        raise RuntimeError(f"{module.name} cannot be loaded (exit status {status}): "
                           f"{(folder / 'list.log').read_text(errors='replace')[-1500:]}")
    return said[-1]["tests"]


def traced_events(trace: Path) -> list[dict]:
    return [line for line in runs.dump(trace, stacks=False)
            if line["kind"] in ("alloc", "free_requested")]


def look_at_traces(folder: Path, over: dict | None, ended: Ended) -> None:
    """Each can be read, and the one of the test process has what the process counted itself."""
    for trace in runs.traces_in(folder):
        ended.traces += 1
        try:
            events = traced_events(trace)
        except AssertionError as error:
            ended.wrong.append(f"{trace.name} cannot be read: {error}")
            continue
        if over and "allocated" in over and f".{over['process']}." in trace.name:
            allocated = sum(one["kind"] == "alloc" for one in events)
            freed = len(events) - allocated
            # Memory that the process had until its end is freed after it counted.
            if allocated != over["allocated"] or freed < over["freed"]:
                ended.wrong.append(f"{trace.name}: {allocated} allocated and {freed} freed, the "
                                   f"program {over['allocated']} and {over['freed']}")


def run_tests(module: Module, wanted: list[str], folder: Path, traced: bool) -> Ended:
    ended, pending, round_number = Ended(), list(wanted), 0
    folder.mkdir(parents=True, exist_ok=True)
    while pending:
        round_number += 1
        out, ids = folder / f"{round_number}.jsonl", folder / f"{round_number}.ids"
        trace = folder / f"{round_number}.traces" if traced else None
        ids.write_text("\n".join(pending))
        status, seconds = launch(module, ["--ids", str(ids)], out, folder / "log", trace)
        ended.processes += 1
        ended.seconds += seconds
        said = said_in(out)
        begun = [one["begins"] for one in said if "begins" in one]
        results = {one["ends"]: one["how"] for one in said if "ends" in one}
        over = next((one for one in said if "over" in one), None)
        ended.tests |= results
        if begun and begun[-1] not in results:
            ended.tests[begun[-1]] = HUNG if status is None else f"{CRASHED} ({status})"
        if trace:
            look_at_traces(trace, over, ended)
            if not runs.traces_in(trace) and not module.brings_cuda:
                ended.wrong.append(f"{module.name}, process {round_number}: no trace")
            shutil.rmtree(trace, ignore_errors=True)
        left = [one for one in pending if one not in ended.tests]
        if over is not None and not begun or len(left) == len(pending):
            # A set-up that failed or skipped, or a process that does not get as far as a test.
            ended.tests |= {one: "not run" if over else f"not run ({status})" for one in left}
            left = []
        pending = left
    return ended
