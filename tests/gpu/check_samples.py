# SPDX-License-Identifier: Apache-2.0
"""(g) CUDA programs of our own, without PyTorch, built here: bare, under the hook, and under
compute-sanitizer with the hook. Each prints what it took and what the driver then said."""

import os
import subprocess
import tempfile
from pathlib import Path

import machine
import runs

DRIVER_SAMPLES = ["device_memory", "virtual_memory", "pools", "errors"]
RUNTIME_SAMPLES = ["runtime_memory"]  # need nvcc


def headers() -> Path | None:
    folders = [os.environ.get("CUDA_HOME"), "/usr/local/cuda", runs.ROOT / ".deps" / "cuda13"]
    return next((Path(folder) / "include" for folder in folders
                 if folder and (Path(folder) / "include" / "cuda.h").exists()), None)


def command(*arguments: object) -> str:
    """Raises CalledProcessError."""
    return subprocess.run([str(one) for one in arguments], check=True, capture_output=True,
                          text=True).stdout


def build(name: str, folder: Path) -> Path:
    target = folder / name
    if name in RUNTIME_SAMPLES:
        command(machine.tool("nvcc"), "-o", target, machine.SAMPLES / f"{name}.cu")
        return target
    part = folder / f"{name}.o"
    command("g++", "-std=c++17", "-O1", "-g", f"-I{headers()}", "-c",
            machine.SAMPLES / f"{name}.cpp", "-o", part)
    # Linked by name only: the driver's library is found when the program starts.
    wanted = [line.split()[-1] for line in command("nm", "-u", part).splitlines()]
    text = "".join(f"void {one}(void) {{}}\n" for one in wanted if one.startswith("cu"))
    (folder / f"{name}_names.c").write_text(text)
    names = folder / f"lib{name}_names.so"
    command("gcc", "-shared", "-Wl,-soname,libcuda.so.1", folder / f"{name}_names.c", "-o", names)
    command("g++", part, names, "-pthread", "-o", target)
    return target


def live_calls(lines: list[dict]) -> int:
    return sum(one.get("kind") == "cuda_call" for one in lines)


def run_sample(name: str, folder: Path) -> dict:
    program = build(name, folder)
    bare = runs.run([program], None)
    traced = runs.run([program], folder / f"{name}-trace")
    found = {"sample": name, "exit_status": bare.status,
             "same": (bare.status, bare.stdout) == (traced.status, traced.stdout),
             "says": bare.stdout.decode(errors="replace").split("\n")[:-1]}
    if bare.status != 0:
        found["error"] = machine.first_words(bare.stderr.decode(errors="replace"))
    if traced.traces:
        found["recorded_calls"] = live_calls(runs.dump(traced.traces[0]))
    sanitizer = machine.tool("compute-sanitizer")
    if sanitizer and runs.on_real_gpu():
        for way, output in (("bare", None), ("traced", folder / f"{name}-sanitized")):
            # `errors` fails on purpose: what counts is that the tool says the same twice.
            done = runs.run([sanitizer, "--tool", "memcheck", "--report-api-errors", "no", program],
                            output)
            found[f"sanitizer_{way}"] = [line for line in done.stdout.decode().splitlines()
                                         if "ERROR SUMMARY" in line]
    return found


def what_is_wrong(found: dict) -> str | None:
    name = found["sample"]
    if "error" in found:
        return f"{name}: did not run"
    if not found["same"]:
        return f"{name}: differs under the hook"
    if not found.get("recorded_calls"):
        return f"{name}: nothing was recorded"
    if found.get("sanitizer_bare") != found.get("sanitizer_traced"):
        return f"{name}: compute-sanitizer says something else under the hook"
    return None


def units(facts: dict) -> list[str]:
    del facts
    return [*DRIVER_SAMPLES, *RUNTIME_SAMPLES]


def begin(facts: dict) -> machine.Check:
    done = machine.Check("g", "CUDA samples of its own, and compute-sanitizer, under the hook")
    if not machine.tool("compute-sanitizer"):
        done.skipped.append("compute-sanitizer is not here")
    if facts["simulated"]:
        done.unverified.append("samples on a real driver, static cudart of nvcc, compute-sanitizer")
    return done


def do(done: machine.Check, name: str, facts: dict) -> None:
    del facts
    missing = "cuda.h" if headers() is None else None
    if name in RUNTIME_SAMPLES and not machine.tool("nvcc"):
        missing = "nvcc"
    if missing:
        done.skipped.append(f"{name}: there is no {missing} here")
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = run_sample(name, Path(folder))
        except subprocess.CalledProcessError as error:
            found = {"sample": name, "same": False, "error": machine.first_words(error.stderr)}
    done.add(found, what_is_wrong(found))
