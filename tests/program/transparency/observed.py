# SPDX-License-Identifier: Apache-2.0
"""Programs of this folder, run bare and traced; and what a trace says about the agent."""

from pathlib import Path

import runs
from pairs import Pair, events, run_both

PROGRAMS = Path(__file__).resolve().parent / "programs"


def script(name: str, *arguments: str) -> list[str]:
    return [runs.python(), str(PROGRAMS / f"{name}.py"), *arguments]


def facts(lines: list[dict]) -> dict[str, str]:
    return {line["key"]: line["value"] for line in lines if line["kind"] == "info"}


def agent_of(trace: Path) -> str | None:
    return facts(events(trace)).get("agent")


# For programs whose output is to be the same every time.
SAME_EVERY_TIME = {"PYTHONHASHSEED": "0", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}


def same(tmp_path: Path, name: str, *arguments: str, compare_stderr: bool = True,
         env: dict[str, str] | None = None) -> Pair:
    """The program printed the same bare and traced, with the agent really there."""
    variables = {**SAME_EVERY_TIME, **(env or {})}
    pair = run_both(script(name, *arguments), tmp_path, compare_stderr, env=variables)
    pair.bare.expect(0)
    assert agent_of(pair.traced.traces[0]) == "on"
    return pair


def said_the_same(tmp_path: Path, name: str, *arguments: str) -> str:
    return same(tmp_path, name, *arguments).bare.stdout.decode()
