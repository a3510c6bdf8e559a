# SPDX-License-Identifier: Apache-2.0
"""Programs in C++ that keep what they take: function, file and line of each, as their sources say them."""

import importlib.util
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import runs
from cuda_programs import compiled, linked_with_cuda

TORCH = Path(importlib.util.find_spec("torch").origin).parent
PROGRAMS = Path(__file__).resolve().parent / "programs"
MARK = re.compile(r"// (\d+)(, which keeps)?: (.+)$", re.MULTILINE)


def translated(folder: Path, name: str, *options: str, compiler: str = "g++") -> Path:
    # A call that is a function's last would take the place of that function.
    return compiled(folder / f"{name}.o", "-std=c++17", "-O2", "-g", "-fPIC", "-c",
                    "-fno-optimize-sibling-calls", f"-I{runs.ROOT / 'include'}", *options, PROGRAMS / f"{name}.cpp", compiler="g++")


def alone(folder: Path, name: str) -> Path:
    return linked_with_cuda(folder / name, translated(folder, name), "-pthread", compiler="g++")


def library(folder: Path) -> Path:
    return linked_with_cuda(folder / "liblibrary.so", translated(folder, "library"), "-shared", compiler="g++")


def with_library(folder: Path, _: str) -> Path:
    return compiled(folder / "caller", translated(folder, "caller"), library(folder),
                    f"-Wl,-rpath,{folder}", "-Wl,--unresolved-symbols=ignore-in-shared-libs", compiler="g++")


def that_loads(folder: Path, _: str) -> Path:
    library(folder)
    return compiled(folder / "loader", translated(folder, "loader"), compiler="g++")


def stripped(folder: Path, name: str) -> Path:
    program = alone(folder, name)
    subprocess.run(["objcopy", "--only-keep-debug", program, folder / "nested.debug"], check=True)
    subprocess.run(["strip", program], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={folder / 'nested.debug'}", program], check=True)
    return program


def without_build_id(folder: Path, name: str) -> Path:
    return linked_with_cuda(folder / name, translated(folder, name), "-Wl,--build-id=none", compiler="g++")


def by_clang(folder: Path, name: str) -> Path:
    return linked_with_cuda(folder / name, translated(folder, name, compiler="clang++"), compiler="clang++")


def at_fixed_addresses(folder: Path, name: str) -> Path:
    return linked_with_cuda(folder / name, translated(folder, name, "-fno-pie"), "-no-pie", compiler="g++")


CASES: dict[str, tuple[Callable, list[str]]] = {
    "nested": (alone, ["nested"]),
    "inlined": (alone, ["inlined"]),
    "templates": (alone, ["templates"]),
    "shared library": (with_library, ["library", "caller"]),
    "loaded library": (that_loads, ["library", "loader"]),
    "threads": (alone, ["threads"]),
    "exceptions": (alone, ["exceptions"]),
    "marked steps": (alone, ["marks"]),
    "stripped, with a file of debug information": (stripped, ["nested"]),
    "without a build id": (without_build_id, ["nested"]),
    "at fixed addresses": (at_fixed_addresses, ["inlined"]),
    "by clang": (by_clang, ["inlined"]),
    "templates by clang": (by_clang, ["templates"]),
}


def truth(names: list[str]) -> tuple[list[tuple[str, str]], str]:
    """From the call outwards: FILE:LINE and function; and which of them keeps, in words."""
    marked, keeps = {}, []
    for name in names:
        text = (PROGRAMS / f"{name}.cpp").read_text()
        for mark in MARK.finditer(text):
            line = text.count("\n", 0, mark.start()) + 1
            marked[int(mark[1])] = (f"{name}.cpp:{line}", mark[3].strip())
            if mark[2]:
                keeps.append(" ".join(marked[int(mark[1])]))
    assert sorted(marked) == list(range(1, len(marked) + 1))
    return [marked[number] for number in sorted(marked)], *keeps


def shown(frames: list[dict]) -> list[tuple[str, str]]:
    return [(f"{Path(one['file']).name}:{one['line']}", one["function"]) for one in frames
            if Path(one["file"]).parent == PROGRAMS and not one["file"].endswith("server.h")]


@pytest.fixture(scope="module")
def built_programs(built, tmp_path_factory) -> Callable[[str], Path]:
    known = {}

    def program(case: str) -> Path:
        if case not in known:
            make, sources = CASES[case]
            known[case] = make(tmp_path_factory.mktemp(case.replace(" ", "_").replace(",", "")), sources[0])
        return known[case]

    return program


def traced(program: Path, folder: Path, *arguments: str) -> tuple[dict, dict, str]:
    """The program's words, the report, and its text as one line."""
    outcome = runs.run([program, *arguments], folder / "trace", cwd=program.parent).expect(0)
    traces = runs.traces_in(folder / "trace")
    words = " ".join(runs.report_text(traces).split())
    return json.loads(outcome.stdout.splitlines()[-1]), runs.report(traces, folder), words


@pytest.mark.parametrize("case", CASES)
def test_what_is_never_freed_is_told_by_its_line(built_programs, tmp_path, case):
    said, report, text = traced(built_programs(case), tmp_path)
    site, = report["devices"][0]["never_freed"]
    assert (site["bytes"], site["blocks"]) == (said["held"], said["blocks"])
    frames, keeps = truth(CASES[case][1])
    assert shown(site["frames"]) == frames
    # The same functions further in also take what is given back.
    assert f" at {keeps} ({said['blocks']} blocks)" in text
    assert "outside of PyTorch" not in text
    each = said["held"] // said["blocks"] // 1024
    if case == "marked steps":
        assert text.startswith(f"LEAKS · {each} KiB a step at {keeps.split()[0]} ")
    else:  # It might be the loading of something that stays.
        assert text.startswith("FITS SO FAR · ")
        assert f"{said['blocks']} blocks of {keeps} (" in text.split("cuda:0")[0]
        assert f"grew by {each} KiB a step" in text


@pytest.mark.parametrize("case", CASES)
def test_what_is_freed_is_not_told(built_programs, tmp_path, case):
    said, report, text = traced(built_programs(case), tmp_path, "frees")
    assert said["held"] == 0
    assert report["devices"][0]["never_freed"] == []
    assert text.startswith("FITS · ")


@pytest.mark.parametrize("works", [False, True])
def test_what_is_loaded_to_stay_does_not_leak(built, tmp_path, works):
    said, report, text = traced(alone(tmp_path, "loads"), tmp_path, *["works"] * works)
    device, = report["devices"]
    assert device["never_freed"][0]["bytes"] == said["held"] == device["peak_allocated_bytes"] - works * 2**19
    _, keeps = truth(["loads"])
    assert text.startswith("FITS SO FAR · ") and "LEAKS" not in text
    assert f"{said['blocks']} blocks of {keeps} (" in text.split("cuda:0")[0]


@pytest.mark.parametrize("exports", [False, True])
def test_without_debug_information_functions_have_their_names(built, tmp_path, exports):
    translated(tmp_path, "nested", "-g0")
    program = linked_with_cuda(tmp_path / "nested", tmp_path / "nested.o", *["-rdynamic"] * exports, compiler="g++")
    if exports:  # known when it was recorded, whatever becomes of the file
        subprocess.run(["strip", program], check=True)
    said, report, text = traced(program, tmp_path)
    if exports:
        program.unlink()
        report = runs.report(runs.traces_in(tmp_path / "trace"), tmp_path)
    site, = report["devices"][0]["never_freed"]
    own = [one["function"] for one in site["frames"] if one["file"] == str(program)]
    assert own[:4] == ["server::take", "chat::remember", "chat::session::answer", "main"]
    assert f"{said['blocks']} blocks of nested chat::remember (" in text.split("cuda:0")[0]


def test_what_is_loaded_and_freed_in_the_end(built, tmp_path):
    said, report, text = traced(alone(tmp_path, "loads"), tmp_path, "frees")
    assert said["held"] == 0 and report["devices"][0]["never_freed"] == []
    assert text.split("cuda:0")[0].startswith("FITS · ") and "all was freed in the end" in text
    # Nothing is held against the program that the report does not hold against it, in the same words.
    checked = subprocess.run([runs.memtrace(), "check", *runs.traces_in(tmp_path / "trace"), "--no-leaks"],
                             capture_output=True, text=True, env=runs.environment())
    assert "may be its loading" in " ".join(checked.stdout.split()) and "too few" not in checked.stdout


def test_a_file_that_has_changed_meanwhile_tells_nothing(built_programs, tmp_path):
    program = tmp_path / "nested"
    program.write_bytes(built_programs("nested").read_bytes())
    program.chmod(0o755)
    traced(program, tmp_path)
    program.write_bytes(built_programs("inlined").read_bytes())
    report = runs.report(runs.traces_in(tmp_path / "trace"), tmp_path)
    site, = report["devices"][0]["never_freed"]
    own = [one for one in site["frames"] if one["file"] == str(program)]
    assert own and all(one["line"] == 0 and one["function"].startswith("+0x") for one in own)
    # What was recorded is there as it was.
    recorded = runs.dump(runs.traces_in(tmp_path / "trace")[0])
    assert any("+0x" in json.dumps(line) for line in recorded)


@pytest.fixture(scope="module")
def training(built, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("training")
    headers = [f"-I{TORCH / 'include'}", f"-I{TORCH / 'include/torch/csrc/api/include'}"]
    libraries = [f"-l{name}" for name in ("torch", "torch_cpu", "torch_cuda", "c10", "c10_cuda")]
    return compiled(folder / "training", "-std=c++17", "-O1", "-g", *headers, PROGRAMS / "training.cpp",
                    f"-L{TORCH / 'lib'}", "-Wl,--no-as-needed", *libraries, f"-Wl,-rpath,{TORCH / 'lib'}",
                    "-Wl,--unresolved-symbols=ignore-in-shared-libs", compiler="g++")


@pytest.mark.slow  # a minute to compile
@pytest.mark.parametrize("keeps", [True, False])
def test_training_in_cpp_is_told_by_its_lines(training, tmp_path, keeps):
    outcome = subprocess.run(
        [runs.memtrace(), "dry-run", "--gpu", "rtx4090", "--site-packages", TORCH.parent, "--no-report",
         "--output", tmp_path / "trace", "--", training, *["keeps"] * keeps],
        check=True, capture_output=True, text=True, env=runs.environment())
    kept = json.loads(outcome.stdout.splitlines()[-1])["kept"]
    (line, function), _ = truth(["training"])[0]
    text = runs.report_text(runs.traces_in(tmp_path / "trace"))
    if keeps:
        assert text.startswith(f"LEAKS · {kept // 40 // 2**20} MiB a step at {line} ")
    else:
        assert text.startswith("FITS · ") and "training.cpp:" in text and function not in text
