# SPDX-License-Identifier: Apache-2.0
"""A report's output: the JSON is what its schema says, the page is well-formed and asks for nothing, filters filter."""

import html.parser
import json
import re
from pathlib import Path

import jsonschema
import made_reports as made
import pytest

import runs

SCHEMA = json.loads((runs.ROOT / "python" / "memtrace" / "fleet" / "report.schema.json").read_text())


@pytest.fixture
def store(real_rows, tmp_path):
    nasty = made.row(real_rows["leaks"][0], project_name="<script>alert(1)</script>", user_name="a\x1b[31m\u202eb")
    rows = [made.row(real_rows[kind][0], project_name=project, user_name=user, run_date=day)
            for kind in ("steady", "leaks", "fails")
            for project, user, day in (("vision", "ada", "2026-11-10"), ("text", "bob", "2026-11-12"))]
    return made.put(tmp_path / "store", [*rows, nasty])


def test_the_json_is_what_its_schema_says(fleet, store, tmp_path):
    (tmp_path / "prices.json").write_text('{"rtx3090": 0.4}')
    for options in ([], ["--prices", tmp_path / "prices.json", "--before", "2026-11-01..", "--after", "release=2"],
                    ["--question", "runs"], ["--sql", "SELECT count(*) AS n FROM runs"], ["--gpu", "no such"]):
        done = fleet("report", store, "--json", "-", *options)
        assert done.status == 0, done.err
        jsonschema.validate(json.loads(done.out), SCHEMA)


@pytest.mark.parametrize(("options", "count"), [
    ([], 7), (["--project", "vision"], 3), (["--project", "vision", "--project", "text"], 6), (["--user", "bob"], 3),
    (["--since", "2026-11-11"], 3), (["--until", "2026-11-11"], 4), (["--since", "2026-11-12", "--user", "ada"], 0),
    (["--gpu", "rtx 3090"], 7), (["--gpu", "H100"], 0), (["--gpu", "3090", "--project", "text"], 3)])
def test_filters(fleet, store, options, count):
    done = fleet("report", store, "--json", "-", "--question", "runs", *options)
    if count == 0 and "--user" in options:
        assert done.status == 0
    told = json.loads(done.out)
    assert told["runs"] == count and len(told["questions"][0]["rows"]) == count


class Tags(html.parser.HTMLParser):
    """The elements that are open, and what refers to elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.links = [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page(fleet, store, tmp_path):
    page = tmp_path / "fleet.html"
    done = fleet("report", store, "--html", page)
    assert done.status == 0 and "Which jobs leak?" in done.out
    text = page.read_text()
    tags = Tags()
    tags.feed(text)
    assert tags.open == [] and "script" not in tags.seen and "table" in tags.seen
    assert tags.links and all(link.startswith("#") for link in tags.links)
    assert "<script>" not in text and "&lt;script&gt;alert(1)" in text and "default-src 'none'" in text
    assert text.count("<section>") == 1 + 6
    refused = fleet("report", store, "--html", page)
    assert refused.status == 1 and "is there already; --force replaces it" in refused.err
    assert fleet("report", store, "--html", page, "--force").status == 0


def test_the_page_looks_like_that_of_a_run(fleet, store):
    """One file says how both look: in this page as it stands, in that of a run by import."""
    from memtrace.fleet import page

    common = Path(page.__file__).with_name("common.css")
    assert common.read_text() in fleet("report", store, "--html", "-").out
    style = runs.ROOT / "page" / "src" / "style.css"
    imported, = [name for name in re.findall(r'@import "(.*?)"', style.read_text()) if name.endswith("common.css")]
    assert (style.parent / imported).resolve() == common.resolve()
    own = set(style.read_text().splitlines())
    assert not [line for line in common.read_text().splitlines() if line in own and "--" in line]  # no colour a second time


def test_the_terminal_shows_no_control_characters_and_says_how_many_more(fleet, store):
    done = fleet("report", store, "--rows", "1")
    assert "\x1b" not in done.out and "\u202e" not in done.out and "a?[31m?b" in fleet("report", store).out
    assert "  and 2 more: --rows 3, or --json FILE" in done.out.splitlines()
    assert "\n    OUT OF MEMORY · " in done.out  # the run's first line, below its row
    assert "(failed_runs: 2)" in done.out and "7 runs, 7 processes, 2026-11-10 to 2026-11-12" in done.out


@pytest.mark.parametrize(("options", "sentence"), [
    (["--before", "2026-11-01"], "--before and --after go together"),
    (["--since", "yesterday"], "--since yesterday: write a day as 2026-11-24"),
    (["--question", "nothing"], "--question nothing: there is no such view; choose one of runs, costs"),
    (["--question", "regressions"], "--question regressions: name the periods to compare"),
    (["--sql", "SELECT * FROM nowhere"], "DuckDB: Catalog Error: Table with name nowhere does not exist"),
    (["--prices", "{tmp}/none.csv"], "cannot be read: No such file"),
    (["--prices", "{tmp}/bad.csv"], "bad.csv: cannot be understood"),
    (["--html", "{tmp}/no/such/page.html"], "cannot be written: No such file"),
    (["--json", "-", "--html", "-"], "only one of --json - and --html -"),
])
def test_what_is_not_understood_gets_one_sentence(fleet, store, tmp_path, options, sentence):
    (tmp_path / "bad.csv").write_text("gpu,price_per_hour\na100-80,much\n")
    done = fleet("report", store, *[one.replace("{tmp}", str(tmp_path)) for one in options])
    assert done.status == 1 and not done.out and len(done.err.splitlines()) == 1 and sentence in done.err


def test_views_can_be_built_on(store):
    import memtrace.fleet

    duck = memtrace.fleet.connect(str(store), projects=("vision",))
    duck.connection.execute("CREATE VIEW mine AS SELECT user_name, count(*) AS times FROM failed_runs GROUP BY 1")
    assert duck.ask("SELECT * FROM mine").rows == [("ada", 1)]
    duck.close()


def test_the_page_in_docs_has_the_schema_and_each_view():
    from memtrace.fleet import questions, schema

    page = (runs.ROOT / "docs" / "fleet.md").read_text()
    assert page.endswith(schema.markdown())
    assert {path.stem for path in questions.VIEWS.glob("*.sql")} == set(questions.ORDER)
    for view in questions.ORDER:
        assert f"| `{view}` |" in page
        assert questions.meaning_of(view)
