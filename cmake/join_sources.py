# SPDX-License-Identifier: Apache-2.0
"""Joins sources into few translation units, so that headers are read once and not once a file.

CMake's own UNITY_BUILD needs names that never clash. Here files that do not go together come into
different units: no name that one file keeps to itself (in its unnamed namespace, a macro, a type of
its own) is a word of a later file of the same unit, or declared in a header that it does not include.

Usage: join_sources.py [--apart] ROOT FOLDER LINES SOURCE...
--apart, for tests, which have helpers of the same names: each source that opens no named namespace at its top comes
into a namespace of its own, so that its names and its using-directives are nobody else's.
LINES is what a unit holds at most. Writes FOLDER/WING_*.cpp where they differ from what is there,
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
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
# Inside another namespace a named one would be another, as would what is defined for another by its full name, and an
# #include under a condition cannot stand first.
STANDS_AT_TOP = re.compile(
    r'^(?:namespace\s+[\w:]+\s*\{|extern\s+"C"|template\s*<\s*>|int main\(|\s*#\s*if'
    r'|(?!struct|class|enum)[a-z][^;=("\n]*\s\w+(?:::\w+)+\s*[({])', re.M)
USING_NAMESPACE = re.compile(r"^\s*using\s+namespace\s+([\w:]+)", re.M)
LIBRARY_HEADER = re.compile(r"^#include (<[^>]+>)", re.M)
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
    names = set(MACRO.findall(code))
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

    def __init__(self, source: Path, project: headers, apart: bool):
        text = source.read_text()
        code = without_noise(text)
        self.source = source
        self.wing = source.relative_to(project.folders[0]).parts[:2]
        self.words = {word for word in WORD.findall(code) if word.isidentifier()} - {"include"}
        self.full_names = defined_names(code, False)
        self.names = {name.rpartition("::")[2] for name in self.full_names}
        self.declared = project.of(source)[1]
        macros = set(MACRO.findall(code))
        self.is_apart = apart and not STANDS_AT_TOP.search(text)
        if self.is_apart:
            self.words -= self.names - macros
            self.names = self.full_names = macros
        self.used_namespaces = {"", *USING_NAMESPACE.findall(code)}
        self.lines = text.count("\n")

    def is_at_odds_with(self, other: "part") -> bool:
        """In any order: all headers stand before all sources."""
        return bool(
            self.full_names & (other.declared - self.declared)
            or other.full_names & (self.declared - other.declared)
            or self.is_apart and self.sees_more_by(other)
            or other.is_apart and other.sees_more_by(self)
        )

    def sees_more_by(self, other: "part") -> bool:
        """Whether a header of the other declares a word of this one in a namespace that this one uses, where its
        own headers do not: the word may mean two things then."""
        for full in other.declared - self.declared:
            around, _, name = full.rpartition("::")
            if name in self.words and {around, around.removeprefix("memtrace::")} & self.used_namespaces:
                return True
        return False


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


def text_of(unit: list[part], root: Path) -> str:
    """All headers stand first: they see no file's own names. What lies below ROOT, where the
    compiler looks for headers, is named from there: the same text in every clone, for ccache."""

    def named(file: Path) -> str:
        return str(file.relative_to(root) if file.is_relative_to(root) else file)

    included = {}
    for one in unit:
        text = one.source.read_text()
        if one.is_apart:
            included |= dict.fromkeys(LIBRARY_HEADER.findall(text))
        for header in PROJECT_HEADER.findall(text):
            beside = one.source.parent / header
            included[f'"{named(beside if beside.is_file() else Path(header))}"'] = None
    lines = [f"#include {header}" for header in included]
    for number, one in enumerate(unit):
        line = f'#include "{named(one.source)}"'
        lines += [f"namespace part_{number} {{", line, "}"] if one.is_apart and len(unit) > 1 else [line]
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    arguments = [one for one in sys.argv[1:] if one != "--apart"]
    apart = len(arguments) < len(sys.argv) - 1
    root, target, most = Path(arguments[0]), Path(arguments[1]), int(arguments[2])
    project = headers(root)
    parts = [part(one, project, apart) for one in sorted(map(Path, arguments[3:]), key=project.order)]
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for number, joined in enumerate(units_of(parts, most)):
        file = target / f"{joined[0].wing[-1]}_{number}.cpp"
        text = text_of(joined, root)
        if not file.is_file() or file.read_text() != text:
            file.write_text(text)
        written.append(file)
    for file in set(target.glob("*.cpp")) - set(written):
        file.unlink()
    print("\n".join(map(str, written)))


if __name__ == "__main__":
    main()
