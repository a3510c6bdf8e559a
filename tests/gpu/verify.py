# SPDX-License-Identifier: Apache-2.0
"""What the simulated GPU cannot prove, on a machine that has a real one. Run it as scripts/verify_gpu.

1. A trace of each training program equals PyTorch's own record of the same run.
2. Programs do the same with and without memtrace.
3. The peaks that memtrace dry-run predicts for this GPU, beside the real ones.
4. The category of each block at the peak, beside the truth from inside the program.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("support", "training", "robustness",
                                                        "attribution")]

import cases  # noqa: E402
import matrix  # noqa: E402
import pairs  # noqa: E402
import runs  # noqa: E402
import truth_cases  # noqa: E402

MODELS = [  # part of the device's name, the simulated GPU that stands for it
    ("H200", "h200"), ("H100 NVL", "h100-94"), ("H100", "h100-80"), ("B200", "b200"),
    ("A100-SXM4-40GB", "a100-40"), ("A100-PCIE-40GB", "a100-40"), ("A100", "a100-80"),
    ("V100-SXM2-32GB", "v100-32"), ("V100-PCIE-32GB", "v100-32"), ("V100", "v100-16"),
    ("A10G", "a10g"), ("A10", "a10"), ("L40S", "l40s"), ("L4", "l4"), ("T4", "t4"),
    ("3060", "rtx3060"), ("3080", "rtx3080"), ("3090", "rtx3090"), ("4090", "rtx4090"),
    ("5090", "rtx5090"), ("A6000", "rtxa6000"), ("P100", "p100-16"),
]
ASK = """
import json, platform, torch
facts = torch.cuda.get_device_properties(0)
print(json.dumps({"gpu": facts.name, "total_bytes": facts.total_memory, "torch": torch.__version__,
    "cuda": torch.version.cuda, "capability": f"{facts.major}.{facts.minor}",
    "python": platform.python_version(), "devices": torch.cuda.device_count()}))
"""


def facts_of_the_machine() -> dict:
    asked = subprocess.run([runs.python(), "-c", ASK], capture_output=True, text=True, check=True)
    facts = json.loads(asked.stdout.splitlines()[-1])
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True)
    facts["driver"] = (driver.stdout.split() or ["unknown"])[0]
    facts["model"] = next((key for part, key in MODELS if part in facts["gpu"]), None)
    facts["date"] = datetime.date.today().isoformat()
    return facts


def missing_module(program: str) -> str | None:
    """The package that a program imports and this Python lacks."""
    names = [line.split()[1].split(".")[0]
             for line in (runs.PROGRAMS / f"{program}.py").read_text().splitlines()
             if line.startswith(("import ", "from ")) and "batches" not in line]
    text = f"import importlib.util as u; print(*[n for n in {names!r} if u.find_spec(n) is None])"
    found = subprocess.run([runs.python(), "-c", text], capture_output=True, text=True, check=True)
    return (found.stdout.split() or [None])[0]


def first_words(error: Exception) -> str:
    return " ".join(str(error).split())[-600:]


def compare_with_pytorch(program: str, setting: matrix.Setting) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = matrix.run_one(program, setting, Path(folder))
        except Exception as error:  # the other programs still count
            return {"error": first_words(error)}
    stats = run.truth["memory_stats"][0]
    return {
        **vars(run.found), "differences": run.found.differences,
        "peak_allocated_bytes": stats["allocated_bytes.all.peak"],
        "peak_reserved_bytes": stats["reserved_bytes.all.peak"],
    }


def does_the_same(command: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            pair = pairs.run_both(command, Path(folder))
        except AssertionError as error:
            return f"differs: {first_words(error)}"
    return f"same (exit status {pair.bare.status}, {len(pair.traced.traces)} traces)"


def predicted(program: str, setting: matrix.Setting, facts: dict) -> dict:
    """The peaks of a dry run, as the report gives them."""
    if facts["model"] is None:
        return {"error": f"no simulated GPU stands for {facts['gpu']}"}
    os.environ["MEMTRACE_REAL_GPU"] = "0"
    try:
        with tempfile.TemporaryDirectory() as folder:
            outcome = runs.run(
                [runs.python(), runs.PROGRAMS / f"{program}.py", *setting.arguments],
                Path(folder) / "trace", env=dict(setting.variables), gpu=facts["model"],
                memory=str(facts["total_bytes"]),
            ).expect(0)
            device = runs.report(outcome.traces, Path(folder))["devices"][0]
    except Exception as error:
        return {"error": first_words(error)}
    finally:
        os.environ["MEMTRACE_REAL_GPU"] = "1"
    return {key: device[key] for key in ("peak_allocated_bytes", "peak_reserved_bytes")}


def training(facts: dict) -> list[dict]:
    results = []
    for program in matrix.PROGRAMS:
        missing = missing_module(program)
        for setting in matrix.SETTINGS:
            result = {"program": program, "setting": setting.name}
            if missing:
                result["skipped"] = f"this Python has no {missing}"
            else:
                result["real"] = compare_with_pytorch(program, setting)
                result["dry_run"] = predicted(program, setting, facts)
            results.append(result)
            print(json.dumps(result)[:400], file=sys.stderr, flush=True)
    return results


def survival() -> list[dict]:
    commands = [program for program, _ in cases.DOES_THE_SAME]
    commands += [("signals_itself", "default", name) for name in cases.ENDED_BY]
    commands += [(name,) for name, _ in cases.SEVERAL_TRACES]
    commands += [("threads_at_exit", "os._exit"), ("hundred_threads",)]
    results = []
    for command in commands:
        results.append({"program": " ".join(command), "outcome": does_the_same(pairs.script(*command))})
        print(json.dumps(results[-1])[:400], file=sys.stderr, flush=True)
    return results


def categories() -> list[dict]:
    results = []
    for case in truth_cases.CASES:
        if case.ranks > 1:
            continue
        result = {"program": case.name}
        with tempfile.TemporaryDirectory() as folder:
            try:
                peak = truth_cases.run_case(case, Path(folder), ("all",))[0].moments["all"]
                result |= {"peak_bytes": peak.moment_bytes, "known": peak.known,
                           "agreeing": peak.agreeing, "good": peak.good}
            except Exception as error:  # the other programs still count
                result["error"] = first_words(error)
        results.append(result)
        print(json.dumps(result)[:400], file=sys.stderr, flush=True)
    return results


def ratio(simulated: dict, real: dict, key: str) -> str:
    if key not in simulated or key not in real:
        return simulated.get("error", "-")
    return f"{simulated[key]:,} ({simulated[key] / real[key] - 1:+.3%})"


def category_row(result: dict) -> str:
    if "error" in result:
        return f"| {result['program']} | {result['error'].replace('|', '/')} | | |"
    return (f"| {result['program']} | {result['peak_bytes']:,} | {result['known']:.2f} | "
            f"{result['agreeing']:.2f} |")


def table(facts: dict, trained: list[dict], survived: list[dict], known: list[dict]) -> str:
    text = [
        f"# {facts['gpu']}: measured on {facts['date']}", "",
        f"Driver {facts['driver']}, torch {facts['torch']} (CUDA {facts['cuda']}), Python "
        f"{facts['python']}, {facts['total_bytes']:,} bytes, made by `scripts/verify_gpu`.", "",
        "| program | setting | events | differences | frames | real peak allocated | dry run | "
        "real peak reserved | dry run |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for result in trained:
        start = f"| {result['program']} | {result['setting']} | "
        real = result.get("real", {})
        if "events" not in real:
            text.append(start + (result.get("skipped") or real["error"]).replace("|", "/") + " |" * 7)
            continue
        text.append(
            start + f"{real['events']:,} | {real['differences']:,} | {real['frames']:,} | "
            f"{real['peak_allocated_bytes']:,} | "
            f"{ratio(result['dry_run'], real, 'peak_allocated_bytes')} | "
            f"{real['peak_reserved_bytes']:,} | "
            f"{ratio(result['dry_run'], real, 'peak_reserved_bytes')} |"
        )
    text += ["", "| program | with memtrace and without |", "| --- | --- |"]
    text += [f"| {one['program']} | {one['outcome'].replace('|', '/')} |" for one in survived]
    text += ["", "| program | bytes at the peak | % with a category | % as the truth has it |",
             "| --- | ---: | ---: | ---: |", *map(category_row, known)]
    different = [f"- {one['program']}, {one['setting']}: {shown}" for one in trained
                 for shown in one.get("real", {}).get("shown", [])]
    if different:
        text += ["", "## What differs", "", *different]
    return "\n".join(text) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=HERE)
    chosen = parser.parse_args()
    os.environ["MEMTRACE_REAL_GPU"] = "1"
    facts = facts_of_the_machine()
    trained, survived, known = training(facts), survival(), categories()
    name = "-".join(facts["gpu"].lower().split())
    chosen.into.mkdir(parents=True, exist_ok=True)
    (chosen.into / f"{name}.json").write_text(
        json.dumps({"machine": facts, "training": trained, "survival": survived, "categories": known},
                   indent=1) + "\n"
    )
    (chosen.into / f"{name}.md").write_text(table(facts, trained, survived, known))
    print(f"written: {chosen.into / name}.json and .md")
    wrong = [one for one in trained if one.get("real", {}).get("differences", 1) and "real" in one]
    wrong += [one for one in known if not one.get("good", True)]
    return 1 if wrong or any(not one["outcome"].startswith("same") for one in survived) else 0


if __name__ == "__main__":
    sys.exit(main())
