# SPDX-License-Identifier: Apache-2.0
"""scripts/verify_gpu, as far as it goes without a GPU."""

import json
import os
import shutil
import subprocess
import tarfile

import pytest

import check_sizes
import in_seconds
import parts
import runs

SCRIPT = runs.ROOT / "scripts" / "verify_gpu"


def verify(folder, *arguments: str) -> tuple[subprocess.CompletedProcess, dict]:
    done = subprocess.run(
        [SCRIPT, "--simulated", "--into", folder, *arguments], capture_output=True, text=True,
        env={**os.environ, "MEMTRACE_BUILD": str(runs.build()), "MEMTRACE_PYTHON": runs.python()})
    return done, json.loads((folder / "simulated.json").read_text())


def of(found: dict, letter: str) -> dict:
    return next(check for check in found["checks"] if check["check"] == letter)


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="this machine may have a GPU")
def test_without_a_gpu_it_says_so(tmp_path):
    done = subprocess.run([SCRIPT, "--into", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0
    assert "skipped" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_samples_run_under_the_hook(built, tmp_path):
    done, found = verify(tmp_path, "--only", "g")
    samples = of(found, "g")
    assert done.returncode == 0, samples
    says = {one["sample"]: one["says"] for one in samples["results"]}
    assert says.keys() == {"device_memory", "virtual_memory", "pools", "errors"}
    # As the driver's documentation says of them, so that the samples test something.
    assert "cuMemAlloc before cuInit 3" in says["errors"]
    assert "cuMemAlloc of twice the device 2" in says["errors"]
    assert "cuMemFree of before the reset 1" in says["errors"]
    assert all(one["recorded_calls"] > 0 for one in samples["results"])
    assert samples["unverified"]
    assert "compute-sanitizer" in (tmp_path / "simulated.md").read_text()


def test_a_part_that_runs_out_of_time_goes_on_where_it_was(built, tmp_path):
    arguments = ("--quick", "--part", "samples")
    _, first = verify(tmp_path, *arguments, "--minutes", "0")
    (spent,) = first["parts"]
    assert spent["programs"] == 1 and len(spent["left"]) == 4
    assert sum("not reached" in one for one in of(first, "g")["skipped"]) == 4
    _, second = verify(tmp_path, *arguments)
    (spent,) = second["parts"]
    assert spent["left"] == [] and spent["programs"] == 5
    samples = [one["sample"] for one in of(second, "g")["results"]]
    assert len(samples) == len(set(samples)) >= 4
    assert not any("not reached" in one for one in of(second, "g")["skipped"])


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("simulated", [True, False])
def test_each_program_is_in_one_part(quick, simulated):
    facts = {"quick": quick, "simulated": simulated, "model": "h200"}
    for letter, check in parts.CHECKS.items():
        every = check.units(facts)
        assert every and len(every) == len(set(every))
        shared_out = [unit for part in parts.PARTS if part.letter == letter for unit in part.units(facts)]
        assert sorted(shared_out) == sorted(every)


def test_the_parts_of_a_lent_machine_are_all_there():
    names = {one.name for one in parts.PARTS}
    assert names > {*in_seconds.FIRST, *in_seconds.LAST}
    # What others do at the same time shows in the device's use, and in the time that a step takes.
    alone = {one.name for one in parts.PARTS if one.letter in "cdf"}
    assert alone == {*in_seconds.FIRST, *in_seconds.LAST}


def test_in_some_seconds_what_is_done_is_packed(built, tmp_path):
    done, found = verify(tmp_path, "--quick", "--seconds", "25")
    assert done.returncode == 0
    assert [one["part"] for one in found["parts"]] == ["sum"]
    assert "peaks: not begun" in done.stdout
    with tarfile.open(tmp_path / "gpu.tgz") as packed:
        assert {"simulated.json", "simulated.md", "parts/simulated/sum.json"} <= set(packed.getnames())


def test_operations_that_allocate_something_else_are_told():
    real = {"same": [1, 2], "larger": [1, 7, 3], "one more": [1, 2], "refused": "no room"}
    simulated = {"same": [1, 2], "larger": [1, 2, 3], "one more": [1], "refused": [4]}
    assert check_sizes.differences(real, simulated) == {
        "larger": [(7, 2)], "one more": [[1, 2], [1]], "refused": ["no room", [4]]}


def test_parts_of_another_machine_are_left_out():
    facts = {name: 1 for name in parts.SAME}
    assert parts.is_of({"machine": facts}, facts)
    assert not parts.is_of({"machine": {**facts, "torch": 2}}, facts)


def test_parts_of_one_check_become_one():
    def part(name, result, wrong, left):
        return {"part": name, "left": left, "check": {
            "check": "d", "title": "cost", "results": [result], "wrong": wrong, "skipped": ["here no clock"],
            "unverified": []}}

    (whole,) = parts.merged([part("small", {"model": "small"}, [], []),
                             part("large", {"model": "large"}, ["large: too slow"], ["huge"])])
    assert [one["model"] for one in whole.results] == ["small", "large"]
    assert whole.status == "failed"
    assert whole.skipped == ["here no clock", "huge: not reached yet; run part large again"]


def test_a_part_that_there_is_not():
    assert [one.name for one in parts.named(["1", "samples"])] == ["sum", "samples"]
    with pytest.raises(KeyError):
        parts.named(["0"])


@pytest.mark.slow
def test_all_of_it_runs_on_the_simulator(built, tmp_path):
    done, found = verify(tmp_path, "--quick")
    assert [check["check"] for check in found["checks"]] == list("abcdefghi")
    failed = {check["check"]: check["wrong"] for check in found["checks"] if check["wrong"]}
    assert not failed and done.returncode == 0
    assert of(found, "e")["status"] == "skipped"
