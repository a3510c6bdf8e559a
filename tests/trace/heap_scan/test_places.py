# SPDX-License-Identifier: Apache-2.0
"""The census in each CPython of this machine, without PyTorch: what it finds, how it names it, and
that a program cannot tell that there was one.

MEMTRACE_BUILD is the build folder (default build/release).
"""
import json
import os
import subprocess
from pathlib import Path

import interpreters
import probes
import pytest

HERE = Path(__file__).resolve().parent
SHOWN = {f"{name}={value}" for name, value in (
    ("capacity", 40), ("small", 1), ("large", 1 << 40), ("is_full", 1), ("rate", 0), ("budget", 320),
    ("debt", 320), ("debt", -320), ("enormous", 1 << 70))}
PROBE = probes.path_of("memtrace_census_probe")


@pytest.fixture(autouse=True, scope="module")
def built_probe():
    probes.need("memtrace_census_probe")


@pytest.fixture(params=interpreters.CASES)
def interpreter(request):
    path = interpreters.find(request.param)
    if path is None:
        pytest.skip(f"no Python {request.param} on PATH or in pyenv")
    return path


def run(interpreter, script, *options, arguments=()):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MEMTRACE_", "PYTHON"))}
    finished = subprocess.run([interpreter, *options, str(HERE / script), str(PROBE), *arguments],
                              capture_output=True, text=True, env=clean, timeout=300)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_every_place_is_found_and_named(interpreter):
    answer = json.loads(run(interpreter, "places.py"))
    assert answer["found"] == answer["expected"]
    assert answer["rows"] == len(answer["expected"])
    assert answer["levels"] == answer["expected_levels"]
    assert answer["classes"] == answer["expected_classes"]
    # Another container, if there is one; an optimizer's is its parameters'.
    assert answer["also"] == {"in two": ["seconds['halves'][…]"], "list": [], "parameter": []}
    # Numbers of the object that has the list, and of the function whose variable it is; what is no whole
    # number, or smaller than the list is long, bounds nothing.
    assert sorted(set(answer["numbers"]["list"]) & SHOWN) == ["capacity=40", f"large={1 << 40}"]
    assert sorted(set(answer["numbers"]["local list"]) & SHOWN) == ["budget=320"]
    file, line = answer["places"]["local"]
    assert (Path(file).name, Path(file).read_text().splitlines()[int(line) - 1]) == (
        "places.py", "def inner(probe):")
    assert Path(answer["places"]["global"][0]).name == "places.py"


def test_an_object_is_named_as_a_census_would_name_it(interpreter):
    named = json.loads(run(interpreter, "places.py"))["names"]
    file = str(HERE / "places.py")
    inner = str((HERE / "places.py").read_text().splitlines().index("def inner(probe):") + 1)
    main = "global of __main__"
    assert named == {
        "list": ["trainer.outputs", main, file, "0", "Trainer", "0"],
        "key": ["trainer.state['last']", main, file, "0", "", "1"],
        "module": ["trainer.model", main, file, "0", "Trainer", "0"],
        "part": ["trainer.model.encoder", main, file, "0", "Module", "0"],
        "local": ["copies", "local of inner", file, inner, "", "0"],
        "cell": ["cell", "local of inner", file, inner, "", "1"],
        "held": ["local", "local of inner", file, inner, "", "1"],
        "class": ["Trainer.shared", main, file, "0", "Trainer", "0"],
        "optimizer": ["optimizer.state", "local of inner", file, inner, "Optimizer", "0"],
        "function": ["unbounded", main, file, "0", "", "0"],
        "nobody's": None, "number": None, "python module": None, "globals": None, "modules": None,
    }


@pytest.mark.parametrize("shape", ["list", "dict"])
def test_one_object_with_millions_of_others_is_left_in_time(interpreter, shape):
    """In no order of addresses, so that each costs a look into memory. All of them take much longer
    than there is; what is asked is that it stops inside of that one object."""
    answer = json.loads(run(interpreter, "many.py", arguments=["2000000", shape]))
    assert answer["kept"] == 2_000_000
    assert answer["incomplete"]
    assert answer["objects"] < 1_900_000
    assert answer["cpu_seconds"] < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["list", "dict", "tuple", "deque", "set"])
def test_twenty_million_objects(interpreter, shape):
    answer = json.loads(run(interpreter, "many.py", arguments=["20000000", shape]))
    assert answer["incomplete"]
    assert answer["cpu_seconds"] < 0.3


def test_offsets_are_checked_against_known_objects(interpreter):
    """Each offset that depends on the version, wrong by a word or two, is noticed."""
    answer = json.loads(run(interpreter, "offsets.py"))
    assert answer["as it is"] is True
    known = [(number, found) for number, found in enumerate(answer["wrong"]) if found[0] is not None]
    assert len(known) >= 8
    assert [number for number, found in known if any(found)] == []


@pytest.mark.parametrize("options", [(), ("-X", "dev")])
def test_a_census_leaves_no_trace_in_the_program(interpreter, options):
    assert run(interpreter, "unseen.py", *options).splitlines()[-1] == "unseen"
