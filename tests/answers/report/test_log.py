# SPDX-License-Identifier: Apache-2.0
"""The command's log on standard error: by default sentences for the user, with -v how it goes
about it; nothing of it is lost, and none of it goes to standard output."""

import os
import subprocess

import pytest
import runs

NO_TRACE = "memtrace: no-such: no such file; check the path, traces end in .mtrace\n"


@pytest.fixture(scope="module")
def trace(examples):
    return examples / "clean.mtrace"


def run(*arguments, log=None):
    environment = runs.environment()
    environment.pop("MEMTRACE_LOG", None)
    if log is not None:
        environment["MEMTRACE_LOG"] = str(log)
    return subprocess.run(
        [runs.memtrace(), *map(str, arguments)], capture_output=True, text=True, env=environment
    )


def test_verbose_says_what_is_read_and_changes_nothing_else(trace):
    quiet, verbose = run("report", trace), run("report", "-v", trace)
    assert quiet.stderr == ""
    assert f"memtrace: info: reading {trace}\n" in verbose.stderr
    assert "7 events in " in verbose.stderr
    assert verbose.stdout == quiet.stdout
    for same in (run("--log-level", "info", "report", trace), run("report", trace, log="info")):
        assert f"memtrace: info: reading {trace}\n" in same.stderr


def test_an_option_goes_before_the_variable(trace):
    assert run("report", "--log-level", "warn", trace, log="debug").stderr == ""


def test_a_log_file_gets_the_lines_and_keeps_what_was_there(trace, tmp_path):
    log = tmp_path / "log"
    log.write_text("before\n")
    done = run("report", trace, "no-such", log=f"info:{log}")
    assert done.returncode == 1
    assert done.stderr == NO_TRACE
    lines = log.read_text().splitlines()
    assert lines[0] == "before"
    assert lines[-1] == NO_TRACE.strip()
    assert any("info: reading" in line for line in lines)


def test_an_error_is_told_even_when_quiet():
    for log in ("quiet", "off"):
        assert run("report", "no-such", log=log).stderr == NO_TRACE
    assert run("--log-level", "off", "report", "no-such").stderr == NO_TRACE


def test_a_log_that_cannot_be_written_is_one_sentence(trace, tmp_path):
    done = run("report", trace, log=tmp_path / "none" / "log")
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "name a file that can be written" in done.stderr


def test_a_log_is_not_written_through_a_link_of_somebody_else(trace, tmp_path):
    target = tmp_path / "target"
    target.write_text("")
    link = tmp_path / "log"
    link.symlink_to(target)
    run("report", trace, log=f"info:{link}")
    assert "reading" in target.read_text()  # the user's own link is followed
    if os.geteuid() != 0:
        pytest.skip("only root can make a link in another user's name")
    os.lchown(link, 65534, 65534)
    target.write_text("")
    assert "somebody else made" in run("report", trace, log=f"info:{link}").stderr
    assert target.read_text() == ""


@pytest.mark.parametrize("wrong", [("--log-level", "loud"), ("-v", "--log-level", "info")])
def test_wrong_use_is_one_sentence(trace, wrong):
    done = run("report", trace, *wrong)
    assert done.returncode == 2
    assert done.stderr.startswith("memtrace: --log-level")
    assert done.stderr.count("\n") == 1


def test_a_name_with_control_characters_does_no_harm(tmp_path):
    assert "\x1b" not in run("report", tmp_path / "a\x1b[31mb").stderr
