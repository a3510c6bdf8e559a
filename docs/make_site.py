# SPDX-License-Identifier: Apache-2.0
"""Stages the pages of the site for Sphinx: README.md, CHANGELOG.md, docs/, and what they link to, at the paths that they
have here, so that links hold as they are. scripts/site runs it.

Usage: docs/make_site.py FOLDER [--no-gallery]     the gallery runs five programs on the simulated GPU"""

import argparse
import re
import shutil
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]+)((?:#[^)]*)?)\)")
# What a browser shows. A folder or a program is read in the repository: its name stays, without a link.
SHOWN = {".md", ".png", ".svg", ".json", ".h", ".def"}
# The pages of docs/ in the order of the site; what is not here stands at the end.
PARTS = {
    "Use": "recording attach reading page live advice replay diff check pytest fit plan estimate snapshots export tables integrations api "
           "sharing fleet",
    "How it answers": "attribution growth verdicts census fragmentation host device ranks simulator beyond_pytorch allocator",
    "Reference": "settings glossary trace_disk ways_in cuda_calls audit guides_tables fleet_scale export_snapshot shell code",
    "Trust": "trust gpu",
}
GALLERY = {
    "fits": "A transformer that fits",
    "out_of_memory": "The same with twice the batch: out of memory",
    "leak": "Outputs of a validation that stay on the GPU",
    "fragmented": "Sequences of all lengths leave memory in pieces",
    "ranks": "Four ranks under DistributedDataParallel",
}


def is_shown(path: Path) -> bool:
    return path.is_file() and path.suffix in SHOWN


def staged(text: str, page: Path) -> tuple[str, list[Path]]:
    """The page's text without links that a site cannot follow, and the files that the others lead to."""
    wanted = []

    def keep(match: re.Match) -> str:
        mark, words, target, _ = match.groups()
        if target.startswith(("http:", "https:", "mailto:")):
            return match[0]
        path = (page.parent / target).resolve()
        if not is_shown(path):
            return words
        wanted.append(path)
        # The README is the site's first page.
        return match[0].replace("README.md", "index.md") if path == ROOT / "README.md" else match[0]

    # Code is no place for links.
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    parts[::2] = [LINK.sub(keep, part) for part in parts[::2]]
    return "".join(parts), wanted


def stage(into: Path) -> int:
    waiting = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
    done = set()
    while waiting:
        path = waiting.pop()
        if path in done:
            continue
        done.add(path)
        target = into / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copyfile(path, target)
            continue
        text, wanted = staged(path.read_text(), path)
        target.write_text(text)
        waiting += wanted
    return len(done)


def toctree(caption: str, pages: list[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])


def make_index(into: Path, has_gallery: bool) -> None:
    """The README, and the tree of all pages that Sphinx wants."""
    known = {name for names in PARTS.values() for name in names.split()}
    left = sorted(path.stem for path in (ROOT / "docs").glob("*.md") if path.stem not in known | {"README"})
    assert not left, f"docs/make_site.py has no place for {left}"
    first = ["docs/README", *(["gallery/index"] if has_gallery else [])]
    trees = [toctree("Start", first)]
    trees += [toctree(part, [f"docs/{name}" for name in names.split()]) for part, names in PARTS.items()]
    beside = sorted(str(path.relative_to(into).with_suffix("")) for path in into.rglob("*.md")
                    if path.relative_to(into).parts[0] not in {"docs", "gallery", "README.md", "CHANGELOG.md"})
    trees += [toctree("Measurements", beside), toctree("Changes", ["CHANGELOG"])]
    readme = into / "README.md"
    (into / "index.md").write_text(readme.read_text() + "\n" + "\n".join(trees))
    readme.unlink()


def make_gallery(into: Path) -> None:
    from make_pictures import record

    pages = into / "gallery_pages" / "gallery"
    pages.mkdir(parents=True)
    (into / "gallery").mkdir()
    rows = []
    for name, title in GALLERY.items():
        with tempfile.TemporaryDirectory() as work:
            shutil.copyfile(record(name, Path(work)), pages / f"{name}.html")
        picture = into / "docs" / "pictures" / f"{name}.png"
        shutil.copyfile(ROOT / "docs" / "pictures" / picture.name, picture)
        link = f'<a href="{name}.html">'
        rows.append(f"## {title}\n\n{link}Open the page</a>\n\n![{title}](../docs/pictures/{name}.png)\n")
    (into / "gallery" / "index.md").write_text(
        "# Pages of real runs\n\nFive programs on the simulated GPU, as `memtrace report --html` shows them.\n\n" + "\n".join(rows))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-gallery", action="store_true")
    chosen = parser.parse_args()
    shutil.rmtree(chosen.folder, ignore_errors=True)
    chosen.folder.mkdir(parents=True)
    count = stage(chosen.folder)
    if not chosen.no_gallery:
        make_gallery(chosen.folder)
    else:
        (chosen.folder / "gallery_pages").mkdir()
    make_index(chosen.folder, not chosen.no_gallery)
    print(f"{count} files staged")


if __name__ == "__main__":
    main()
