# SPDX-License-Identifier: Apache-2.0
"""Growth that the program, or a file, says is expected: no alarm in any view, and told with its reason."""

from __future__ import annotations

import json
import subprocess

import pytest

import programs
import recordings
import runs
from checks import BROKEN, OK, UNKNOWN, check, document

PROGRAM = programs.path("expects")
WHY = "plotted at the end"
KEPT = 64 * 1024 * 4  # bytes a step in Trainer.history
OTHERS = KEPT // 4


def line_of(marker: str) -> int:
    number, = [number for number, text in enumerate(PROGRAM.read_text().splitlines(), 1) if text.endswith(marker)]
    return number


@pytest.fixture(scope="module")
def trained(built):
    """A function from arguments of the program to its trace."""
    def train(*arguments: str):
        done = recordings.record(PROGRAM, *arguments, env={"PYTHONPATH": str(runs.ROOT / "python")})
        return done.expect(0).trace

    return train


def tool(*arguments, status: int = 0) -> str:
    done = subprocess.run([str(runs.memtrace()), *map(str, arguments)], check=False, capture_output=True, text=True,
                          env=runs.environment())
    assert done.returncode == status, done.stderr
    return done.stdout


def report(trace, *arguments) -> dict:
    return json.loads(tool("report", trace, "--json", "-", *arguments))


def of_device(made: dict) -> dict:
    one, = [one for one in made["verdicts"] if one["subject"] == "device:0"]
    return one


def suppressions(folder, *lines: str):
    file = folder / "my.supp"
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def test_without_a_word_it_is_a_leak(trained):
    document(BROKEN, trained(), "--no-leaks")
    made = report(trained())
    assert of_device(made)["expected"] is None and of_device(made)["is_leak"]
    assert made["processes"][0]["expectations"] == []


@pytest.mark.parametrize("how", ["object", "deque", "instance", "path"])
def test_what_the_program_expects_breaks_nothing(trained, how):
    trace = trained("--say", how)
    one, = [one for one in document(OK, trace, "--no-leaks")["checks"] if one["subject"] == "device:0"]
    assert one["growth"]["expected"] and one["growth"]["bytes_per_step"] == KEPT
    assert f"expected: {WHY} (said at expects.py:" in one["message"]
    made = report(trace)
    verdict = of_device(made)
    # It accumulates, whoever expects it.
    assert (verdict["answer"], verdict["shape"]) == ("accumulates", "accumulating")
    assert verdict["bytes_per_step"] == KEPT and verdict["steps_to_oom"] > 0
    assert not verdict["is_leak"]
    said = verdict["expected"]
    assert (said["why"], said["by"], said["is_all"], said["bytes_per_step"]) == (WHY, "program", True, KEPT)
    told, = made["processes"][0]["expectations"]
    assert told["verdicts"] >= 1 and told["line"] == said["line"]
    assert [row for row in made["advice"] if row.get("subject")] == []
    text = tool("report", trace)
    line, = [line for line in text.splitlines() if line.startswith("  growth ")]
    assert f"256 KiB a step, expected: {WHY} (said at expects.py:{said['line']})" in line
    assert "write instead" not in text and "called so" not in text


def test_the_line_is_the_one_that_says_so(trained):
    said = of_device(report(trained("--say", "object")))["expected"]
    assert said["line"] == line_of("# says object")
    assert said["file"].endswith("/expects.py")


def test_a_tensor_that_is_made_anew_at_each_step(trained):
    trace = trained("--keep", "bank", "--say", "tensor")
    verdict = of_device(report(trace))
    assert (verdict["answer"], verdict["expected"]["why"]) == ("accumulates", WHY)
    document(OK, trace, "--no-leaks")
    # Said at 110 steps, of as many tensors: what it is called is told once.
    told = [row for row in runs.dump(trace, stacks=False) if row["kind"] == "expectation"]
    assert {row["what"] for row in told} <= {"self.bank", "trainer.bank", "NoneType", "Tensor"}
    assert 1 <= len(told) <= 4


def test_a_variable_of_a_function(trained):
    trace = trained("--keep", "others", "--say", "local")
    document(OK, trace, "--no-leaks")
    row, = [row for row in runs.dump(trace, stacks=False) if row["kind"] == "expectation"]
    assert (row["what"], row["owner"], row["why"]) == ("others", "local of fit", WHY)


def test_another_leak_beside_it_is_the_alarm(trained):
    trace = trained("--keep", "history", "others", "--say", "object")
    one, = [one for one in document(BROKEN, trace, "--no-leaks")["checks"] if one["subject"] == "device:0"]
    assert one["line"]["line"] == line_of("# keeps others")
    assert f"256 KiB a step of it are expected: {WHY}" in one["message"]
    verdict = of_device(report(trace))
    assert verdict["is_leak"] and verdict["bytes_per_step"] == KEPT + OTHERS
    assert verdict["expected"]["bytes_per_step"] == KEPT and not verdict["expected"]["is_all"]
    assert [culprit["expected"] is None for culprit in verdict["culprits"]] == [True, False]
    text = tool("report", trace)
    assert "  where: 20 % expects.py:" in text and f"are expected: {WHY}" in text


def test_a_file_may_expect_the_rest(trained, tmp_path):
    trace = trained("--keep", "history", "others", "--say", "object")
    file = suppressions(tmp_path, "# known", f"growth: expects.py:{line_of('# keeps others')}  # a few")
    document(OK, trace, "--no-leaks", "--suppressions", file)
    assert check(trace, "--no-leaks", env={"MEMTRACE_SUPPRESSIONS": str(file)}).returncode == OK
    made = report(trace, "--suppressions", file)
    said = of_device(made)["expected"]
    # The larger of the two is named.
    assert (said["by"], said["is_all"], said["bytes_per_step"]) == ("program", True, KEPT + OTHERS)
    assert [(row["by"], row["verdicts"] > 0) for row in made["processes"][0]["expectations"]] == [
        ("program", True), ("file", True)]


@pytest.mark.parametrize("pattern", ["*.history", "Trainer.history", "expects.py:LINE", "programs/expects.py:*", "keep"])
def test_a_pattern_is_a_path_a_line_or_a_function(trained, tmp_path, pattern):
    file = suppressions(tmp_path, f"growth: {pattern.replace('LINE', str(line_of('# keeps')))}  # we know")
    trace = trained()
    assert "expected: we know (said at my.supp:1)" in check(trace, "--no-leaks", "--suppressions", file).stdout
    document(OK, trace, "--no-leaks", "--suppressions", file)
    said = of_device(report(trace, "--suppressions", file))["expected"]
    assert (said["by"], said["file"], said["line"]) == ("file", str(file), 1)


@pytest.mark.parametrize("pattern", ["history", "Other.history", "expects.py:1", "other.py:*", "main", "device:0"])
def test_what_matches_nothing_changes_nothing_and_is_told(trained, tmp_path, pattern):
    file = suppressions(tmp_path, "growth: keep", f"growth: {pattern}")
    text = tool("report", trained(), "--suppressions", file)
    assert f"Expected to grow, and nothing that does is called so: `{pattern}` (my.supp:2)\n" in text
    told = report(trained(), "--suppressions", file)["processes"][0]["expectations"]
    assert [row["verdicts"] > 0 for row in told] == [True, False]
    file = suppressions(tmp_path, f"growth: {pattern}")
    document(BROKEN, trained(), "--no-leaks", "--suppressions", file)


def test_an_object_that_no_name_leads_to_is_told(trained):
    trace = trained("--say", "nameless")
    document(BROKEN, trace, "--no-leaks")
    assert "is called so: `list` (expects.py:" in tool("report", trace)


def test_a_privacy_copy_says_the_same(trained, tmp_path):
    trace = trained("--keep", "history", "others", "--say", "object")
    tool("scrub", trace, "--output", tmp_path / "copies")
    copy, = (tmp_path / "copies").glob("*.mtrace")
    before, after = (of_device(report(one)) for one in (trace, copy))
    assert after["expected"] == {**before["expected"], "file": after["expected"]["file"]}
    assert after["expected"]["file"] != before["expected"]["file"]
    assert after["expected"]["file"].endswith("/expects.py")
    assert (after["summary"], after["is_leak"]) == (before["summary"], before["is_leak"])


def test_a_report_of_privacy_copies_hides_where_the_file_is(trained, tmp_path):
    file = suppressions(tmp_path, "growth: keep  # we know")
    made = tool("report", trained(), "--scrub", "--suppressions", file, "--json", "-")
    assert of_device(json.loads(made))["expected"]["file"] == "my.supp" and str(tmp_path) not in made


def test_the_python_package_goes_by_the_variable(trained, tmp_path):
    program = f"import memtrace; print(memtrace.report({str(trained())!r}).verdicts[0].expected.why)"
    env = {"PYTHONPATH": str(runs.ROOT / "python"), "PATH": f"{runs.build()}:/usr/bin:/bin",
           "MEMTRACE_SUPPRESSIONS": str(suppressions(tmp_path, "growth: keep  # we know"))}
    done = subprocess.run([runs.python(), "-c", program], check=True, capture_output=True, text=True, env=env)
    assert done.stdout == "we know\n"


def test_the_other_views(trained, tmp_path):
    file = suppressions(tmp_path, "growth: keep  # we know")
    live = tool("live", "--once", trained("--say", "object"))
    assert f"; expected: {WHY} (said at expects.py:" in live
    assert "; expected: we know (said at my.supp:1)" in tool("live", "--once", trained(), "--suppressions", file)
    difference = tool("diff", trained(), trained("--say", "object"), "--suppressions", file)
    assert "accumulating, expected" in difference
    tool("report", trained("--say", "object"), "--html", tmp_path / "page.html")
    assert f"expected: {WHY} (said at expects.py:" in (tmp_path / "page.html").read_text(errors="replace")


@pytest.mark.parametrize("content, words", [
    ("growth: x\nleak: y\n", 'my.supp:2: "leak: y" is no suppression'),
    ("\ngrowth:   # nothing\n", "my.supp:2: growth: has no pattern"),
    ("history", 'my.supp:1: "history" is no suppression'),
])
def test_a_bad_line_is_one_sentence(trained, tmp_path, content, words):
    (tmp_path / "my.supp").write_text(content)
    done = check(trained(), "--no-leaks", "--suppressions", tmp_path / "my.supp")
    assert (done.returncode, done.stdout) == (UNKNOWN, "")
    assert words in done.stderr and len(done.stderr.splitlines()) == 1
    for command in (["report", trained()], ["live", "--once", trained()], ["diff", trained(), trained("--say", "path")]):
        done = subprocess.run([str(runs.memtrace()), *map(str, command), "--suppressions", str(tmp_path / "my.supp")],
                              check=False, capture_output=True, text=True, env=runs.environment())
        assert done.returncode != 0 and words in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_file_that_is_not_there(trained, tmp_path):
    for name in (tmp_path / "none.supp", tmp_path):
        done = check(trained(), "--no-leaks", "--suppressions", name)
        assert (done.returncode, done.stdout) == (UNKNOWN, "")
        assert f"{name}: the suppressions cannot be read" in done.stderr and len(done.stderr.splitlines()) == 1
