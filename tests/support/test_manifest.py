# SPDX-License-Identifier: Apache-2.0
"""The manifest of tests/programs says what is there."""

import ast
import re
import sys

import pytest

import programs
import runs

EVERY = pytest.mark.parametrize("name", programs.KNOWN)
HELD = ("arguments", "can", "needs", "ranks")


def text_of(name: str) -> str:
    return programs.path(name).read_text()


def imported_by(text: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.partition(".")[0])
    return found


def test_every_file_has_a_line_and_every_line_a_file():
    files = {path.stem for path in programs.FOLDER.glob("*.py")}
    assert len(files) > 100
    assert files == programs.KNOWN.keys() | programs.MANIFEST["shared"].keys()
    assert not programs.KNOWN.keys() & programs.MANIFEST["shared"].keys()


def test_what_is_shared_is_imported_by_several():
    texts = [imported_by(path.read_text()) for path in programs.FOLDER.glob("*.py")]
    for name in programs.MANIFEST["shared"]:
        assert sum(name in one for one in texts) > 1, name


def test_every_capability_is_had_and_asked_for():
    sources = [path.read_text() for path in (runs.ROOT / "tests").rglob("*.py") if path.name != "test_manifest.py"]
    asked = set(re.findall(r'"(\w+)"', " ".join(
        one for source in sources for one in re.findall(r"programs\.having\(([^)]*)\)", source))))
    assert asked == programs.MANIFEST["capabilities"].keys()
    for name in programs.MANIFEST["capabilities"]:
        assert programs.having(name), name


def test_what_has_no_name_is_not_found():
    with pytest.raises(AssertionError, match="no capability"):
        programs.having("flies")
    with pytest.raises(AssertionError, match="no line"):
        programs.path("batches")


@EVERY
def test_a_line_says_what_is_in_the_program(name):
    line, text = programs.KNOWN[name], text_of(name)
    assert line.keys() <= set(HELD)
    shared = imported_by(text) & programs.MANIFEST["shared"].keys()
    ours = {path.stem for path in programs.FOLDER.glob("*.py")}
    assert imported_by(text) - ours - {"torch"} - sys.stdlib_module_names == set(programs.needs(name))
    for flag in re.findall(r"--[\w-]+", line.get("arguments", "")):
        assert any(flag.removeprefix("--") in one for one in (text, *map(shared_text, shared))), flag


def shared_text(name: str) -> str:
    return (programs.FOLDER / f"{name}.py").read_text()
