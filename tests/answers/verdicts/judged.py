# SPDX-License-Identifier: Apache-2.0
"""Runs a program of the corpus, unless it is recorded already, and judges what the report says of it."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import judge
import recordings
import runs
from corpus import Truth

# Else threads of the CPU's share the work by chance, and sets are gone through in another order each time.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


@dataclass(frozen=True)
class Run:
    truth: Truth
    steps: int
    seed: int = 0
    mode: str = ""  # of MEMTRACE; "": without it
    settings: str = ""  # of PyTorch's allocator


@dataclass
class Result:
    run: Run
    judged: judge.Judged | None = None
    failure: str = ""


def recording_of(run: Run) -> recordings.Recording:
    truth = run.truth
    arguments = ("--steps", str(run.steps), "--seed", str(run.seed), *truth.arguments)
    environment = {**ENVIRONMENT, **({"MEMTRACE": run.mode} if run.mode else {}),
                   **({"PYTORCH_CUDA_ALLOC_CONF": run.settings} if run.settings else {})}
    made = recordings.record(truth.path, *arguments, gpu=truth.gpu, memory=truth.memory_size, env=environment)
    # Another status is an error of the program, and no verdict.
    assert made.status == 0, f"{truth.name} ended with {made.status}: {text_of(made.stderr)[-3000:]}"
    assert made.traces, f"{truth.name} left no trace: {text_of(made.stderr)[-3000:]}"
    return made


def report_of(run: Run) -> dict:
    made = recording_of(run)
    with tempfile.TemporaryDirectory() as folder:
        return runs.report(made.traces, Path(folder))


def text_of(output: bytes | str) -> str:
    return output if isinstance(output, str) else output.decode(errors="replace")


def judge_run(run: Run) -> judge.Judged:
    return judge.judge(report_of(run), run.truth, run.steps)


def result_of(run: Run) -> Result:
    try:
        return Result(run, judge_run(run))
    except Exception as error:  # one program that fails must not hide the others
        return Result(run, failure=str(error)[-1500:] or repr(error))
