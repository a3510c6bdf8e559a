# SPDX-License-Identifier: Apache-2.0
"""The README and docs/ list what there is: pages, environment variables, rooms of the code."""

import importlib.util
import re
from pathlib import Path

import check_layout

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
READ = re.compile(r'(?:getenv|variable)\("(\w+)"\)|environ\.get\("(MEMTRACE_\w+)"')
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def variables_that_are_read() -> set[str]:
    """By the library, the command, the simulator, and the tests' own support; the programs that tests
    run have variables of their own. Those of capabilities.h are read by its table."""
    places = [ROOT / "interpose", ROOT / "analyzer", ROOT / "simulator", ROOT / "tests" / "support"]
    found = {variable for variable, _, _ in capabilities().values()}
    for place in places:
        for path in [*place.rglob("*.cpp"), *place.rglob("*.py")]:
            for names in READ.findall(path.read_text()):
                found.update(name for name in names if name.startswith("MEMTRACE_"))
    return found


def test_settings_page_names_each_variable_that_is_read():
    read = variables_that_are_read()
    assert {"MEMTRACE_OUTPUT", "MEMTRACE_NVTX", "MEMTRACE_SIM_GPU", "MEMTRACE_BUILD"} <= read
    page = (DOCS / "settings.md").read_text()
    assert sorted(name for name in read if f"`{name}`" not in page) == []


def test_settings_page_names_no_variable_that_nothing_reads():
    named = set(re.findall(r"^\| `(MEMTRACE_\w+)`", (DOCS / "settings.md").read_text(), re.M))
    sources = "".join(
        path.read_text()
        for folder in ("interpose", "analyzer", "simulator", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".cpp", ".h", ".py"} and path != Path(__file__)
    )
    assert named
    assert sorted(name for name in named if f'"{name}"' not in sources) == []


def capabilities() -> dict[str, tuple[str, str, str]]:
    """Name of the row: its variable, the mode from which on it is on, what a report lacks without it."""
    header = (ROOT / "include" / "memtrace" / "capabilities.h").read_text().replace("\\\n", "")
    rows = re.findall(r'X\((\w+), "(\w+)",\s+(\w+),\s+"([^"]+)"\)', header)
    assert len(rows) == len(re.findall(r'X\(\w+, "', header)) > 10
    return {name: tuple(rest) for name, *rest in rows}


def test_settings_page_has_the_table_of_what_runs_in_the_process():
    page = (DOCS / "settings.md").read_text().split("## What runs in the traced process")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()
            if re.match(r"\| `[a-z_]+` \|", line)]
    modes = ["minimal", "standard", "full"]
    told = {name.strip("`"): (marks, variable.strip("`"), lacks)
            for name, _, *marks, variable, _, lacks in rows}
    meant = {name: (["●" if mode in modes and modes.index(mode) <= at else "" for at in range(3)], variable, lacks)
             for name, (variable, mode, lacks) in capabilities().items()}
    assert told == meant


def test_index_links_each_page():
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert pages
    assert sorted(pages - set(LINK.findall((DOCS / "README.md").read_text()))) == []


def test_links_lead_somewhere():
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in [ROOT / "README.md", *DOCS.glob("*.md")]
        for target in LINK.findall(page.read_text())
        if not target.startswith("http") and not (page.parent / target).exists()
    ]
    assert broken == []


def anchors_of(page: Path) -> set[str]:
    """Of its headings, as GitHub and the site name them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in plain}


def test_anchors_lead_somewhere():
    link = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")
    wrong, count = [], 0
    for page in [ROOT / "README.md", *DOCS.glob("*.md")]:
        for target, anchor in link.findall(page.read_text()):
            other = page.parent / target if target else page
            if target.startswith("http") or other.suffix != ".md":
                continue
            count += 1
            if anchor not in anchors_of(other):
                wrong.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert count > 20 and wrong == []


def test_the_site_keeps_links_that_a_browser_can_follow():
    spec = importlib.util.spec_from_file_location("make_site", DOCS / "make_site.py")
    make_site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_site)
    text = ("[a](trust.md#measured) [b](../tests/support) [c](../README.md) ![d](report.svg) [e](https://x.y)\n"
            "```\n[f](../tests/support)\n```\n")
    told, wanted = make_site.staged(text, DOCS / "page.md")
    assert told == text.replace("[b](../tests/support)", "b").replace("../README.md", "../index.md")
    assert wanted == [DOCS / "trust.md", ROOT / "README.md", DOCS / "report.svg"]
    placed = {name for names in make_site.PARTS.values() for name in names.split()} | {"README"}
    assert placed == {page.stem for page in DOCS.glob("*.md")}


def test_the_page_on_the_code_names_each_room_in_its_order():
    """The rooms of the floors that check_layout.py checks; what it names is what there is."""
    page = (DOCS / "code.md").read_text()
    for part in ("interpose", "analyzer", "simulator"):
        section = page.split(f"## `{part}`")[1].split("\n## ")[0]
        named = re.findall(r"`(\w+)`", section)
        wings = check_layout.WINGS[part]
        assert named == [name for wing, rooms in wings.items() for name in (wing, *rooms)]
        floors = {floor for floor in check_layout.floors_of(wings) if (ROOT / part / floor).is_dir()}
        assert floors == set(check_layout.floors_of(wings)), part


def test_each_piece_of_advice_has_words():
    """In the terminal; ids are for tools. So has each remedy of what grows."""
    ids = set()
    advice = ROOT / "analyzer" / "judge" / "advice"
    for path in [*(advice / "pieces").glob("*.cpp"), *(advice / "remedies").glob("*.cpp")]:
        text = path.read_text()
        for chosen in re.findall(r"\.id =([^;]*);", text):
            ids.update(re.findall(r'"(\w+)"', chosen))
        ids.update(re.findall(r'constexpr words \w+ = \{\s*"(\w+)"', text))
    assert {"checkpointing", "train_batch_half", "expandable_segments"} <= ids
    table = (ROOT / "analyzer" / "judge" / "advice" / "brief_words.cpp").read_text()
    named = set(re.findall(r'\{"(\w+)", "', table))
    assert named == ids
