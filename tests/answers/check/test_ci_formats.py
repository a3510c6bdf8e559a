# SPDX-License-Identifier: Apache-2.0
"""The formats that CI systems read: JUnit's XML, SARIF, and GitHub's annotations."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as xml

from checks import BROKEN, OK, UNKNOWN, check, document, line_of

ANNOTATION = re.compile(r"::(error|warning) (?:file=([^,:]+),line=(\d+),)?title=([^:]+)::(.+)")


def annotations(done) -> list[tuple]:
    return [ANNOTATION.fullmatch(text).groups() for text in done.stdout.splitlines() if text.startswith("::")]


def test_junit_has_a_case_for_each_check(trained, tmp_path):
    target = tmp_path / "junit.xml"
    done = check(trained("--steps", "4").trace, "--no-leaks", "--max-peak", "1MiB", "--max-reserved", "20GiB",
                 "--junit", target)
    assert done.returncode == BROKEN
    suite, = xml.parse(target).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    by_name = {case.get("name"): case for case in suite.iter("testcase")}
    assert [child.tag for child in by_name["max-peak device 0"]] == ["failure"]
    assert [child.tag for child in by_name["max-reserved device 0"]] == ["system-out"]
    assert [child.tag for child in by_name["no-leaks device 0"]] == ["error"]
    printed = done.stdout.splitlines()
    message = by_name["max-peak device 0"][0].get("message")
    assert f"broken  max-peak device 0: {message}" in printed


def test_junit_of_a_program_with_a_name_that_xml_cannot_hold(trained, tmp_path):
    folder = tmp_path / 'a <b> & "c" \x01'
    folder.mkdir()
    copy = folder / "run.mtrace"
    copy.write_bytes(trained().trace.read_bytes())
    (folder / "cut.mtrace").write_bytes(b"MEMTRACE")
    done = check(folder, "--max-peak", "20GiB", "--junit", tmp_path / "junit.xml")
    assert done.returncode == UNKNOWN  # of one trace nothing is known
    suite, = xml.parse(tmp_path / "junit.xml").getroot()
    names = [case.get("name") for case in suite.iter("testcase")]
    assert f"trace {folder}/cut.mtrace".replace("\x01", "\ufffd") in names


def test_sarif_names_what_does_not_hold_at_its_line(trained, tmp_path):
    run = trained("--leak")
    target = tmp_path / "memory.sarif"
    done = check(run.trace, "--no-leaks", "--max-peak", "20GiB", "--max-reserved", "1MiB", "--sarif", target,
                 env={"GITHUB_WORKSPACE": str(run.program.parents[1])})
    assert done.returncode == BROKEN
    said = json.loads(target.read_text())
    assert said["version"] == "2.1.0"
    ran, = said["runs"]
    rules = [rule["id"] for rule in ran["tool"]["driver"]["rules"]]
    assert sorted(one["ruleId"] for one in ran["results"]) == ["max-reserved", "no-leaks"]  # --max-peak holds
    assert {one["ruleId"] for one in ran["results"]} <= set(rules) and len(rules) == len(set(rules))
    leak, = (one for one in ran["results"] if one["ruleId"] == "no-leaks")
    place = leak["locations"][0]["physicalLocation"]
    assert leak["level"] == "error"
    assert place["artifactLocation"]["uri"] == "programs/train.py"
    assert place["region"]["startLine"] == line_of("# leaks")
    assert leak["message"]["text"].startswith("device 0: GPU 0 accumulates")
    assert f"programs/train.py:{line_of('# leaks')}" in leak["message"]["text"]


def test_sarif_gives_each_result_a_place(trained, tmp_path):
    """Also a trace that cannot be read; what no URI may hold is escaped."""
    folder = tmp_path / "a run 100%"
    folder.mkdir()
    (folder / "run.mtrace").write_bytes(trained().trace.read_bytes())
    (folder / "cut.mtrace").write_bytes(b"MEMTRACE")
    done = check(folder, "--max-peak", "20GiB", "--sarif", "-")
    assert done.returncode == UNKNOWN
    result, = json.loads(done.stdout)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("trace", "warning")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == (folder / "cut.mtrace").as_uri()
    assert place["region"]["startLine"] == 1


def test_github_shows_the_line_below_its_workspace(trained):
    run = trained("--leak")
    done = check(run.trace, "--no-leaks", "--github", env={"GITHUB_WORKSPACE": str(run.program.parents[1])})
    assert done.returncode == BROKEN
    found = [one for one in annotations(done) if "device 0" in one[3]]
    (level, file, line, title, message), = found
    assert (level, file, int(line)) == ("error", "programs/train.py", line_of("# leaks"))
    assert title == "memtrace check no-leaks%2C device 0%3A broken"
    assert "\n" not in message


def test_github_has_the_whole_path_of_a_file_elsewhere(trained, tmp_path):
    run = trained()
    done = check(run.trace, "--max-peak", "1MiB", "--github", env={"GITHUB_WORKSPACE": str(tmp_path)})
    (level, file, _, _, _), = annotations(done)
    assert (level, file) == ("error", str(run.program))


def test_github_warns_of_what_cannot_be_told_and_is_silent_on_what_holds(trained):
    done = check(trained("--steps", "4").trace, "--no-leaks", "--max-peak", "20GiB", "--github")
    assert done.returncode == UNKNOWN
    (level, file, _, _, message), = annotations(done)
    assert (level, file) == ("warning", None)
    assert "too few" in message


def test_json_into_a_file_leaves_the_lines_on_standard_output(trained, tmp_path):
    done = check(trained().trace, "--max-peak", "20GiB", "--json", tmp_path / "check.json")
    assert done.returncode == OK and "\nok " in done.stdout
    assert (tmp_path / "check.json").read_text().startswith("{")
    assert document(OK, trained().trace, "--max-peak", "20GiB")["limits"]["max_peak_bytes"] == 20 << 30
