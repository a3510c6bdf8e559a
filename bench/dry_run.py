# SPDX-License-Identifier: Apache-2.0
"""The cost of a dry run of a model of a billion parameters, and memtrace's share of it: writes DRY_RUNS.md.

Usage: dry_run.py [ROUNDS]     runs of every row, in turn (1); the least of each is taken"""

import datetime
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from recording import BUILD, ROOT

BENCH = ROOT / "bench"
GPU = "a100-80"
LOOK_S = 0.05  # between two looks at the memory

TRAININGS = {
    "GPT, built on the CPU": [BENCH / "dry_run_gpt.py", "cpu"],
    'GPT, built under `torch.device("cuda")`': [BENCH / "dry_run_gpt.py", "cuda"],
    "Llama of transformers, a loop": [BENCH / "dry_run_llama.py", "loop"],
    "Llama of transformers, Trainer": [BENCH / "dry_run_llama.py", "trainer"],
}
NOTHING = ["-c", "pass"]
IMPORTS = ["-c", "import torch"]
ALL_IMPORTS = ["-c", "import torch; from transformers import AutoModelForCausalLM, LlamaConfig, Trainer, TrainingArguments"]
ONE_TENSOR = ["-c", "import torch; torch.zeros(1024, device='cuda')"]


@dataclass
class Cost:
    wall_s: float
    cpu_s: float
    bytes: int  # the most at once of all processes, shared pages in parts

    def least(self, other: "Cost | None") -> "Cost":
        if other is None:
            return self
        return Cost(min(self.wall_s, other.wall_s), min(self.cpu_s, other.cpu_s), min(self.bytes, other.bytes))


def tree(root: int) -> list[int]:
    """A process and all that come from it."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(folder.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def memory_of(process: int) -> int:
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # it has ended
    return 0


def measure(command: list) -> Cost:
    """Each run writes its bytecode nowhere new: a first one, not measured, has done so."""
    begun = time.monotonic()
    started = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    most, ended = [0], threading.Event()

    def look():
        while not ended.wait(LOOK_S):
            most[0] = max(most[0], sum(map(memory_of, tree(started.pid))))

    watcher = threading.Thread(target=look)
    watcher.start()
    said = started.stderr.read()
    _, status, used = os.wait4(started.pid, 0)
    wall = time.monotonic() - begun
    ended.set()
    watcher.join()
    assert status == 0, f"{command}: {status}\n{said.decode(errors='replace')[-2000:]}"
    return Cost(wall, used.ru_utime + used.ru_stime, most[0])


def dry_run(program: list, folder: str, *options: str) -> list:
    recording = [] if "--bare" in options else ["--no-report", "--output", folder]
    return [BUILD / "memtrace", "dry-run", "--gpu", GPU, *recording, *options, "--", sys.executable, *program]


def rows(folder: str) -> dict[str, list]:
    found = {}
    for name, program in TRAININGS.items():
        found[name] = dry_run(program, folder)
        found[f"{name}, fast"] = dry_run(program, folder, "--fast-init")
    found["python"] = [sys.executable, *NOTHING]
    for name, program in (("nothing", NOTHING), ("imports", IMPORTS), ("tensor", ONE_TENSOR), ("all imports", ALL_IMPORTS)):
        found[f"{name}, bare"] = dry_run(program, folder, "--bare")
        found[name] = dry_run(program, folder)
    return found


def gib(count: int) -> str:
    return f"{count / 2**30:.2f} GiB"


def page(costs: dict[str, Cost], rounds: int, load: float) -> str:
    trainings = []
    for name in TRAININGS:
        usual, fast = costs[name], costs[f"{name}, fast"]
        trainings.append(
            f"| {name} | {usual.cpu_s:.1f} s | {fast.cpu_s:.1f} s | {fast.cpu_s / usual.cpu_s:.2f} | "
            f"{usual.wall_s:.1f} s | {fast.wall_s:.1f} s | {gib(usual.bytes)} | {gib(fast.bytes)} | "
            f"{fast.bytes / usual.bytes:.2f} |")
    starts = []
    for name, label in (("nothing", "`pass`"), ("imports", "`import torch`"), ("tensor", "one tensor on the GPU"),
                        ("all imports", "what the Llama imports")):
        bare, recorded = costs[f"{name}, bare"], costs[name]
        starts.append(f"| {label} | {bare.cpu_s:.2f} s | {recorded.cpu_s:.2f} s | {recorded.cpu_s - bare.cpu_s:+.2f} s |")
    return f"""# What a dry run costs

Made by `bench/dry_run.py {rounds}` on {datetime.date.today()}, on {os.cpu_count()} cores ({platform.machine()}), Python
{platform.python_version()}, a simulated {GPU}. The machine's load was {load:.0f} when it began: what else ran there makes the times
longer, those of the wall several times, those of the CPU less. All of the work is in one thread: on a machine with a core to spare
the wall takes what the CPU takes. The least of {rounds}.

Three training steps of a billion parameters, recorded, with and without `--fast-init`
([simulator](../docs/simulator.md#large-weights-on-the-cpu)). The memory is that of all processes of the run on the host, shared pages in
parts, looked at every {LOOK_S * 1000:.0f} ms.

| program | CPU | with `--fast-init` | ratio | wall | with | memory | with | ratio |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{chr(10).join(trainings)}

What of it is the start, in seconds of CPU; `python -c pass` alone takes {costs["python"].cpu_s:.2f} s.

| program | simulated | and recorded | recording |
| --- | ---: | ---: | ---: |
{chr(10).join(starts)}

What imports take is PyTorch's and transformers' own.
"""


def main(rounds: int) -> None:
    load = os.getloadavg()[0]
    costs: dict[str, Cost] = {}
    with tempfile.TemporaryDirectory() as folder:
        for command in (dry_run(ALL_IMPORTS, folder, "--bare"), dry_run(ONE_TENSOR, folder)):
            measure(command)
        for _ in range(rounds):
            for name, command in rows(folder).items():
                costs[name] = measure(command).least(costs.get(name))
                print(f"{name}: {costs[name]}", flush=True)
    (BENCH / "DRY_RUNS.md").write_text(page(costs, rounds, load))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
