# SPDX-License-Identifier: Apache-2.0
"""README.md, SKILL.md and docs/ name commands, options and fields that there are."""

import functools
import re

import pytest

import runs

PAGES = sorted([runs.ROOT / "README.md", runs.ROOT / "SKILL.md", *(runs.ROOT / "docs").glob("*.md")])
BY_PYTHON = {"fleet", "kernel", "attach"}  # their options are argparse's


@functools.cache
def help_of(subcommand: str) -> str:
    """Empty: there is no such subcommand."""
    done = runs.memtrace_says(subcommand, "--help")
    return done.stdout if done.returncode == 0 else ""


def commands_in(page: str) -> list[list[str]]:
    """What follows "memtrace" up to the program's own command, in fences and code spans."""
    fences = re.findall(r"^```\w*\n(.*?)^```", page, re.M | re.S)
    lines = [line.removeprefix("$ ") for fence in fences for line in fence.splitlines()]
    spans = re.findall(r"`(memtrace [^`]+)`", re.sub(r"^```.*?^```", "", page, flags=re.M | re.S))
    found = []
    for text in [*lines, *spans]:
        if not text.startswith("memtrace ") or text.startswith("memtrace: "):
            continue
        words = text.split(" # ")[0].split(" | ")[0].split()  # what is quoted is nobody's option: it begins with '
        found.append(words[1:words.index("--")] if "--" in words else words[1:])
    return found


def test_commands_are_found():
    assert commands_in("```\n$ memtrace run --mode full -- python --x\n```\nand `memtrace report a --by site`.") == [
        ["run", "--mode", "full"], ["report", "a", "--by", "site"]]
    assert sum(len(commands_in(page.read_text())) for page in PAGES) > 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documented_commands_exist(built, page):
    wrong = []
    for words in commands_in(page.read_text()):
        if not words or not re.fullmatch("[a-z-]+", words[0]) or words[0].startswith("-"):
            continue
        if words[0] not in BY_PYTHON and not help_of(words[0]):
            wrong.append(words)
        elif words[0] not in BY_PYTHON:
            wrong += [words for word in words[1:] if re.fullmatch("--[a-z][a-z-]+(=\\S*)?", word)
                      and not re.search(rf"{word.split('=')[0]}\b", help_of(words[0]))]
    assert wrong == []


def test_the_readme_can_be_read_in_four_minutes():
    assert len((runs.ROOT / "README.md").read_text().split()) <= 900


def test_the_fields_that_agents_are_told_of_exist():
    schema = (runs.ROOT / "analyzer/show/json/report.schema.json").read_text()
    rows = re.findall(r"^\| `.*", (runs.ROOT / "SKILL.md").read_text(), re.M)
    names = [name for row in rows for span in re.findall(r"`([^`]+)`", row) for name in re.split(r"[.\[\]]+", span)]
    assert len(names) > 20
    assert [name for name in names if f'"{name}"' not in schema] == []
