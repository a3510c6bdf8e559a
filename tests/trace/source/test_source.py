# SPDX-License-Identifier: Apache-2.0
"""The program's own text in its trace: that of the files that ran, each once, and never what may be another text."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

import runs

PROGRAM = Path(__file__).parent / "programs" / "allocates.py"
CHANGED, TOO_LARGE, UNREADABLE = 1, 2, 4
HELPER = """import torch

LIMIT = 3  # é


def allocate():
    return torch.empty(1 << 20, device="cuda")
""".encode("latin-1").replace(b"import torch\n", b"# coding: latin-1\nimport torch\n", 1)

pytestmark = pytest.mark.usefixtures("built")


def run(tmp_path: Path, what: str, status: int = 0, **env: str) -> tuple[Path, list[dict], Path]:
    """The program's copy, the sources of its trace, and the trace."""
    program = tmp_path / "program" / "allocates.py"
    program.parent.mkdir()
    shutil.copy(PROGRAM, program)
    (program.parent / "helper.py").write_bytes(HELPER)
    outcome = runs.run([runs.python(), program, what], tmp_path / "trace", env=env).expect(status)
    trace, = outcome.traces
    return program, [one for one in runs.dump(trace, stacks=False) if one["kind"] == "source"], trace


def test_each_of_its_own_files_is_there_once_and_byte_for_byte(tmp_path):
    program, sources, _ = run(tmp_path, "imports")
    helper = program.parent / "helper.py"
    assert sorted(one["file"] for one in sources) == [str(program), str(helper)]
    for one in sources:
        text = Path(one["file"]).read_bytes()
        assert one["digest"] == hashlib.sha256(text).hexdigest()
        assert one["bytes"] == len(text)
        assert one["modified_ns"] == Path(one["file"]).stat().st_mtime_ns
        assert one["flags"] == 0


@pytest.mark.parametrize(("what", "flags"), [
    ("changes", CHANGED), ("goes", UNREADABLE), ("pipe", UNREADABLE), ("large", CHANGED | TOO_LARGE)])
def test_what_is_not_the_text_that_runs_is_said(tmp_path, what, flags):
    _, (source,), _ = run(tmp_path, what)
    assert source["flags"] == flags
    assert bool(source["digest"]) == (what == "changes")


def test_it_can_be_turned_off(tmp_path):
    assert run(tmp_path, "nothing", MEMTRACE_SOURCE="0")[1] == []


def test_a_program_that_is_killed_leaves_what_was_read_by_then(tmp_path):
    _, sources, _ = run(tmp_path, "killed", -9)
    assert all(one["flags"] == 0 for one in sources)


def test_a_forked_child_has_its_own(tmp_path):
    program = tmp_path / "allocates.py"
    shutil.copy(PROGRAM, program)
    outcome = runs.run([runs.python(), program, "forks"], tmp_path / "trace").expect(0)
    assert len(outcome.traces) == 2
    for trace in outcome.traces:
        source, = (one for one in runs.dump(trace, stacks=False) if one["kind"] == "source")
        assert (source["file"], source["flags"]) == (str(program), 0)


def test_the_page_shows_it_where_the_file_is_gone(tmp_path):
    program, _, trace = run(tmp_path, "nothing")
    line = "def allocate(steps: int = 4)"
    assert line in program.read_text()
    shutil.rmtree(program.parent)
    page = tmp_path / "page.html"
    subprocess.run([runs.memtrace(), "report", trace, "--html", page, "--with-source"], check=True,
                   stdout=subprocess.DEVNULL, env=runs.environment())
    assert line in page.read_text()
