# SPDX-License-Identifier: Apache-2.0
"""docs/tables.md: its questions can be asked, and it lists every table with every column as the file itself does."""

import re
import sqlite3

import runs

PAGE = (runs.ROOT / "docs" / "tables.md").read_text()


def test_the_questions_can_be_asked(database):
    questions = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(questions) >= 12
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
        for question in questions:
            assert opened.execute(question).fetchall() != [] or "step IN" in question, question


def test_the_tables_are_those_of_the_file(database):
    kinds = {"INTEGER": "integer", "REAL": "real", "TEXT": "text"}
    made = []
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
        for table, row in opened.execute("SELECT table_name, row_is FROM schema_tables"):
            made.append(f"### {table}\n\nA row is {row}.\n\n| column | type | |\n| --- | --- | --- |")
            made += [f"| `{column}` | {kinds[kind]} | {meaning} |" for column, kind, meaning in opened.execute(
                "SELECT column_name, type, meaning FROM schema_columns WHERE table_name = ?", (table,))]
            made.append("")
    assert PAGE.split("\n## Tables\n\n")[1] == "\n".join(made)


def test_the_views_are_those_of_the_file(database):
    listed = set(re.findall(r"`(\w+)`", PAGE.split("\n## Views\n")[1].split("`events` and `blocks`")[0]))
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
        views = {name for name, in opened.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")}
    assert len(views) > 10 and views - {"events", "blocks"} <= listed
