# SPDX-License-Identifier: Apache-2.0
"""Joins sources into few translation units, so that headers are read once and not once a file.

CMake's own UNITY_BUILD needs names that never clash. Here files that do not go together come into
different units: no name that one file keeps to itself (in its unnamed namespace, a macro, a type of
its own) is a word of a later file of the same unit, or declared in a header that it does not include.

Usage: join_sources.py ROOT FOLDER LINES SOURCE...
LINES is what a unit holds at most. Writes FOLDER/unit_*.cpp where they differ from what is there,
and prints their names, one a line. Project headers are found below ROOT and ROOT/include.
"""

import re
import sys
from pathlib import Path

NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'
    r"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.S,
)
# Members and qualified names are looked up where no other file's own names are.
WORD = re.compile(r"(?:(?:\.|->|::)\s*)?\b[A-Za-z_]\w*")
DECORATION = re.compile(
    r"\[\[[^\]]*\]\]|alignas\([^)]*\)|__attribute__\(\(.*?\)\)|\btemplate\s*<[^<>]*(?:<[^<>]*>[^<>]*)*>"
)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", re.M)
NOT_A_DEFINITION = re.compile(r"\s*(?:struct|class|namespace|static_assert|friend|extern)\b")
KEYWORDS = {"void", "int", "const", "sizeof", "noexcept", "decltype", "auto", "operator", "requires"}
NAMED_TYPE = re.compile(r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+([A-Za-z_]\w*)(?!\w|::)")
ALIAS = re.compile(r"\busing\s+([A-Za-z_]\w*)\s*=")
FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*\(")
VARIABLE = re.compile(r"(?<!:)\b([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*(?:=|$)")
PROJECT_HEADER = re.compile(r'^#include "([^"]+\.h)"', re.M)
OPENS_NAMESPACE = re.compile(r"^\s*(?:inline\s+)?namespace(\s+[\w:]+)?\s*$|^\s*extern\s*$")


def without_noise(text: str) -> str:
    """The text without comments and what stands in quotes."""
    return NOISE.sub(" ", text)


def heads(code: str):
    """Each definition at namespace scope up to its body; the namespaces around it, "" without name."""
    around, depth, start = [], 0, 0
    for match in re.finditer(r"[{};]", code):
        mark, at = match.group(), match.start()
        if depth:
            depth += {"{": 1, "}": -1, ";": 0}[mark]
            start = match.end()
            continue
        head = DECORATION.sub(" ", code[start:at])
        start = match.end()
        if mark == "}":
            if around:
                around.pop()
        elif mark == "{" and OPENS_NAMESPACE.match(head):
            around.append("" if head.strip() == "namespace" else head.replace("namespace", "").strip())
        else:
            if mark == "{" or not NOT_A_DEFINITION.match(head):
                yield head, around
            depth = 1 if mark == "{" else 0


def defined_names(code: str, shared: bool) -> set[str]:
    """The names at namespace scope: all of them, or those that a source does not share with others.
    Each comes with its namespaces before it."""
    names = set(re.findall(r"^\s*#\s*define\s+(\w+)", code, re.M))
    names -= set(re.findall(r"^\s*#\s*undef\s+(\w+)", code, re.M))
    for head, around in heads(DIRECTIVE.sub("", code)):
        found = NAMED_TYPE.findall(head) + ALIAS.findall(head)
        before = head.split("=")[0]
        called = FUNCTION.search(before)
        if not found and not called:
            found = VARIABLE.findall(before)
        if called and (shared or "" in around or re.search(r"\bstatic\b", head)):
            # In capitals it is a macro that is called.
            found += [called.group(1)] if not called.group(1).isupper() else []
        prefix = "".join(f"{name}::" for name in around if name not in ("", "extern"))
        names.update(prefix + name for name in set(found) - KEYWORDS)
    return names


class headers:
    """What a file gets by its includes: the libraries' headers, names that the project's declare."""

    def __init__(self, root: Path):
        self.folders = [root, root / "include"]
        self.known: dict[Path, tuple[frozenset[str], frozenset[str]]] = {}

    def of(self, file: Path) -> tuple[frozenset[str], frozenset[str]]:
        if file not in self.known:
            self.known[file] = frozenset(), frozenset()  # for headers that include each other
            text = file.read_text()
            libraries = set(re.findall(r"^\s*#\s*include\s*<(\w+/[^>]+\.hpp)>", text, re.M))
            declared = set() if file.suffix == ".cpp" else defined_names(without_noise(text), True)
            for name in PROJECT_HEADER.findall(text):
                for folder in [file.parent, *self.folders]:
                    if (folder / name).is_file():
                        further = self.of(folder / name)
                        libraries |= further[0]
                        declared |= further[1]
                        break
            self.known[file] = frozenset(libraries), frozenset(declared)
        return self.known[file]

    def order(self, source: Path) -> tuple[list[str], Path]:
        """Sorts those that read the same large headers next to each other."""
        return sorted(self.of(source)[0]), source


class part:
    """One source: its words, which of them are its own names, which names its headers declare."""

    def __init__(self, source: Path, project: headers):
        text = source.read_text()
        code = without_noise(text)
        self.source = source
        self.wing = source.relative_to(project.folders[0]).parts[:2]
        self.words = {word for word in WORD.findall(code) if word.isidentifier()} - {"include"}
        self.full_names = defined_names(code, False)
        self.names = {name.rpartition("::")[2] for name in self.full_names}
        self.declared = project.of(source)[1]
        self.lines = text.count("\n")

    def is_at_odds_with(self, other: "part") -> bool:
        """In any order: all headers stand before all sources."""
        return bool(
            self.full_names & (other.declared - self.declared)
            or other.full_names & (self.declared - other.declared)
        )


def place_in(unit: list[part], new: part, most: int) -> int | None:
    """Where in a unit a part can stand: after nobody whose names it uses, before nobody using its."""
    if unit[0].wing != new.wing or sum(one.lines for one in unit) + new.lines > most:
        return None
    if any(map(new.is_at_odds_with, unit)):
        return None
    place = next((at for at, one in enumerate(unit) if one.names & new.words), len(unit))
    return None if any(one.words & new.names for one in unit[place:]) else place


def units_of(parts: list[part], most: int) -> list[list[part]]:
    """The parts, each in the first unit of its wing that has a place for it: an edit in one wing leaves the units
    of the others, and the compiler's cache of them, as they were."""
    units: list[list[part]] = []
    for new in parts:
        for unit in units:
            if (place := place_in(unit, new, most)) is not None:
                unit.insert(place, new)
                break
        else:
            units.append([new])
    return units


def text_of(sources: list[Path], root: Path) -> str:
    """All headers stand first: they see no file's own names. What lies below ROOT, where the
    compiler looks for headers, is named from there: the same text in every clone, for ccache."""
    included = {}
    for source in sources:
        for header in PROJECT_HEADER.findall(source.read_text()):
            beside = source.parent / header
            included[beside if beside.is_file() else header] = None
    names = [*map(Path, included), *sources]
    named = [one.relative_to(root) if one.is_relative_to(root) else one for one in names]
    return "".join(f'#include "{name}"\n' for name in named)


def main() -> None:
    root, target, most = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    project = headers(root)
    parts = [part(one, project) for one in sorted(map(Path, sys.argv[4:]), key=project.order)]
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for number, joined in enumerate(units_of(parts, most)):
        file = target / f"unit_{number}.cpp"
        text = text_of([one.source for one in joined], root)
        if not file.is_file() or file.read_text() != text:
            file.write_text(text)
        written.append(file)
    for file in set(target.glob("*.cpp")) - set(written):
        file.unlink()
    print("\n".join(map(str, written)))


if __name__ == "__main__":
    main()
