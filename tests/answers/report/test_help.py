# SPDX-License-Identifier: Apache-2.0
"""--help of every subcommand: what follows, examples that are taken, and what the exit status means."""

import re
import shlex

import pytest

import runs

RUN_A_PROGRAM = {"run", "dry-run", "doctor", "fit", "plan"}
SUBCOMMANDS = ["run", "dry-run", "doctor", "path", "report", "live", "diff", "check", "replay", "fit", "plan", "estimate",
               "scrub", "export", "audit", "dump", "completion", "man"]
LEFT = re.compile(r"^  ((?:-\w,)?--[\w-]+|-\w)", re.MULTILINE)


def help_of(*names: str) -> str:
    done = runs.memtrace_says(*names, "--help")
    assert done.returncode == 0 and not done.stderr
    return done.stdout


def examples_in(text: str) -> list[str]:
    return [line.strip() for line in text.split("\nExamples:\n")[1].split("\n\n")[0].splitlines()]


def options_in(text: str) -> set[str]:
    return {name for names in LEFT.findall(text) for name in names.split(",")}


def test_these_are_the_subcommands(built):
    text = help_of()
    listed = re.findall(r"^  ([a-z-]+) ", text.split("\nOptions:")[0], re.MULTILINE)
    assert set(listed) == {*SUBCOMMANDS, "fleet"} - {"completion", "man"}
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_a_help_fits_the_terminal_and_has_its_parts(built, name):
    text = help_of(name)
    assert [line for line in text.splitlines() if len(line) > 80] == []
    usage = re.search(r"^Usage: memtrace (.*)$", text, re.MULTILINE).group(1)
    assert usage.split()[0] == name
    assert ("-- COMMAND…" in usage) == (name in RUN_A_PROGRAM)
    assert re.search(r"^Exit status:\n  \S", text, re.MULTILINE)
    assert "UINT" not in text and "TEXT" not in text and "INT in" not in text


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_the_examples_name_options_that_there_are(built, name):
    text = help_of(name)
    known = options_in(text)
    examples = examples_in(text)
    assert examples and all(f"memtrace {name}" in one for one in examples)
    for example in examples:
        words = shlex.split(example, comments=False)
        own = words[:words.index("--")] if "--" in words else words
        written = {word for word in own if re.match(r"--?[a-z]", word) and " " not in word}
        written -= {"-l"} if name == "man" else set()
        assert written <= known, example
        assert ("--" in words) <= (name in RUN_A_PROGRAM)


@pytest.mark.parametrize("name", sorted({"report", "check", "replay", "scrub", "export", "live", "audit"}))
def test_the_examples_are_taken_as_they_stand(examples, tmp_path, name):
    """All but what needs a moment, or a second run, that this trace lacks."""
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "one.mtrace").write_bytes((examples / "steps.mtrace").read_bytes()
                                                     if (examples / "steps.mtrace").exists()
                                                     else (examples / "clean.mtrace").read_bytes())
    for example in examples_in(help_of(name)):
        words = shlex.split(example)[1:]
        if {"--serve", "--against", "--at"} & set(words) or words[:2] == ["live", "traces"] and "--once" not in words:
            continue
        done = runs.memtrace_says(*words, cwd=tmp_path)
        assert done.returncode != 2 or name == "check", (example, done.stderr)
        assert "expected" not in done.stderr and " has no --" not in done.stderr


def test_fleet_says_what_its_exit_status_means(built):
    for line in ([], ["add"], ["report"]):
        done = runs.memtrace_says("fleet", *line, "--help")
        assert done.returncode == 0 and "exit status: 0 " in done.stdout.lower().replace("\n", " ")


@pytest.mark.parametrize("line", [
    ["dry-run", "--memory", "10", "--", "true"],
    ["fit", "--gpu", "rtx3090:20", "--batch", "--batch-size {}", "--", "true"],
    ["fit", "--gpu", "20", "--batch", "--batch-size {}", "--", "true"],
    ["fit", "--gpu", "t4", "--margin", "512", "--batch", "--batch-size {}", "--", "true"],
    ["replay", "TRACE", "--memory", "10"],
    ["check", "TRACE", "--max-peak", "10"],
    ["check", "TRACE", "--max-reserved", "10"],
    ["check", "TRACE", "--against", "TRACE", "--tolerance", "10"],
])
def test_a_size_without_a_unit_is_refused(examples, line):
    named = [str(examples / "clean.mtrace") if word == "TRACE" else word for word in line]
    done = runs.memtrace_says(*named)
    assert done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1
    assert re.search(r"unit|such as --tolerance 2% or 64MiB", done.stderr) and re.search(r"\d[GM]iB", done.stderr)


def test_a_size_in_bytes_says_so(built):
    done = runs.memtrace_says("dry-run", "--memory", "1073741824B", "--bare", "--", "true")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", [["dry-run"], ["fit"], ["replay"], ["estimate"]])
def test_gpu_list_lists_everywhere(built, line):
    done = runs.memtrace_says(*line, "--gpu", "list")
    assert done.returncode == 0 and not done.stderr
    assert {"t4", "h100-80"} <= {row.split()[0] for row in done.stdout.splitlines()}


@pytest.mark.parametrize("written, taken", [("h100", "h100-80"), ("a100", "a100-40"), ("H100", "h100-80"), ("h200", ""),
                                            ("h100-94", ""), ("H100 94", "")])
def test_a_gpu_without_its_size_is_the_usual_one_which_is_said(built, written, taken):
    done = runs.memtrace_says("estimate", "--parameters", "770M", "--gpu", written)
    assert done.returncode == 0 and done.stderr.count("\n") == bool(taken)
    assert f"--gpu {written} is taken as {taken}" in done.stderr or not taken
    assert not taken or taken in done.stdout
