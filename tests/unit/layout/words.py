# SPDX-License-Identifier: Apache-2.0
"""The words of docs/glossary.md: the old ones are refused in names, file names and comments. check_layout.py runs this.

Text in quotes is left alone: what users read and what JSON calls its fields is another matter.
"""

import re
import subprocess
from pathlib import Path

# Set when the tree has been renamed.
IS_CHECKED = True
# The old word, as a regular expression in which a blank stands for a blank, "_", "-" or nothing; the new word.
WORDS = {
    r"census(?:es)?": "heap scan",
    r"keepers?": "retainer",
    r"culprits?": "leak suspect, suspect line",
    r"birth steps?": "allocation generation",
    r"made anew": "reallocated each step",
    r"gap menders?": "drop recovery",
    r"unsettled": "inconclusive",
    r"untold": "pending",
    r"filling buffers?": "bounded growth",
}
# Old words that stay, as regular expressions for the whole name or comment word, each with its reason.
STAYS = {
    r"errno_keeper": "keeps errno, no memory",
    r"MEMTRACE_\w+|memtrace_census|memtrace\.census|census\(\)": "settings and the public API",
    r"(?:step_)?census(?:_action|_reason|_incomplete|_signal|_without_graphs)?": "in code: names of the trace format",
    r"[\w/]*census[\w/]*\.(?:md|py|c)": "a page of docs/, a program of the tests",
}
FOLDERS = ("analyzer/", "interpose/", "simulator/", "include/", "python/", "page/src/", "tests/unit/")
# Fields of the report's JSON are names there; only comments are looked at.
COMMENTS_ONLY = ("python/", "page/src/", "interpose/sight/agent/agent.py")
GENERATED = ("python/memtrace/_model.py",)
OLD = {re.compile(rf"(?<![A-Za-z])(?:{old.replace(' ', '[ _-]?')})(?![A-Za-z])", re.IGNORECASE): new
       for old, new in WORDS.items()}
KEPT = re.compile("|".join(STAYS))
C_TOKENS = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<mark>[^(\s"]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"
                          |(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|(?P<name>[A-Za-z_]\w*)""", re.S | re.X)
OTHER_COMMENT = re.compile(r"^[ \t]*#(?!include)[^\n]*|  # [^\n\"']*$", re.M)


def in_text(text: str) -> list[str]:
    """The old words of a comment or a name, each with the new one."""
    # A word in backquotes or with an underscore is a name; a name that stays may be spoken of.
    spoken = re.sub(r"`[^`]*`", " ", text)
    spoken = re.sub(r"[\w./]*\w_\w+|[\w./()]*\.(?:md|py|c)\b|\bmemtrace\.census|\bcensus\(\)|census::",
                    lambda match: " " if KEPT.fullmatch(match.group()) else match.group(), spoken)
    return [f"{match.group().strip()}: say {new}" for pattern, new in OLD.items() for match in pattern.finditer(spoken)]


def breaches_of_words(path: str, text: str) -> list[str]:
    """The old words in one file's name, names and comments."""
    if not path.startswith(FOLDERS) or path in GENERATED or path.startswith("tests/unit/layout/"):
        return []
    found = [] if KEPT.fullmatch(Path(path).stem) else in_text(Path(path).stem)
    if path.endswith((".cpp", ".h", ".ts", ".tsx", ".S", ".def")):
        for match in C_TOKENS.finditer(text):
            name = match.group("name")
            if match.group("comment"):
                found += in_text(match.group())
            elif name and not path.startswith((*COMMENTS_ONLY, "include/")) and not KEPT.fullmatch(name):
                found += in_text(name)
    elif path.endswith((".py", ".txt")):
        for match in OTHER_COMMENT.finditer(text):
            found += in_text(match.group())
    return found


def breaches(root: Path) -> list[str]:
    if not IS_CHECKED:
        return []
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *FOLDERS],
                            cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    known = [name for name in listed if name.endswith((".cpp", ".h", ".ts", ".tsx", ".S", ".def", ".py", ".txt"))]
    return [f"{name}: {breach}" for name in known if (root / name).is_file()
            for breach in breaches_of_words(name, (root / name).read_text())]
