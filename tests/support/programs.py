# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/programs, by name and by what they can be used for; manifest.toml has a line for each.

    programs.path("lstm")     its file
    programs.having("oom")    the names of those that can run out of memory
"""

import tomllib
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "programs"
MANIFEST = tomllib.loads((FOLDER / "manifest.toml").read_text())
KNOWN: dict[str, dict] = MANIFEST["programs"]


def path(name: str) -> Path:
    assert name in KNOWN, f"{name} has no line in {FOLDER}/manifest.toml"
    return FOLDER / f"{name}.py"


def having(*capabilities: str) -> list[str]:
    """The names of the programs that have all of these, in the order of the manifest."""
    unknown = set(capabilities) - MANIFEST["capabilities"].keys()
    assert not unknown, f"no capability of a program: {unknown}"
    return [name for name, program in KNOWN.items() if set(capabilities) <= set(program["can"])]


def ranks(name: str) -> int:
    """As many processes as it is started in at least."""
    return KNOWN[name].get("ranks", 1)


def needs(name: str) -> list[str]:
    """The packages besides PyTorch that it imports."""
    return KNOWN[name].get("needs", [])
