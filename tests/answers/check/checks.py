# SPDX-License-Identifier: Apache-2.0
"""Runs memtrace check, and knows the lines of the program that the tests train."""

from __future__ import annotations

import json
import subprocess

import jsonschema

import programs
import runs

PROGRAM = programs.path("train")
SCHEMA = json.loads((runs.ROOT / "analyzer/show/json/check.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
OK, BROKEN, UNKNOWN = 0, 1, 2


def check(*arguments, env: dict | None = None, cwd=None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(runs.memtrace()), "check", *map(str, arguments)], check=False,
        capture_output=True, text=True, env=runs.environment(env), cwd=cwd,
    )


def document(status: int, *arguments) -> dict:
    done = check(*arguments, "--json", "-")
    assert done.returncode == status, done.stdout + done.stderr
    made = json.loads(done.stdout)
    VALIDATOR.validate(made)
    assert made["outcome"] == {OK: "ok", BROKEN: "broken", UNKNOWN: "unknown"}[status]
    return made


def line_of(marker: str) -> int:
    """Number of the only line of the program that has the marker."""
    found = [number for number, text in enumerate(PROGRAM.read_text().splitlines(), 1) if marker in text]
    number, = found
    return number
