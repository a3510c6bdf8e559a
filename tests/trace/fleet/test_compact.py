# SPDX-License-Identifier: Apache-2.0
"""The runs of a date in one file: the same answers, and also if it is stopped between writing and deleting."""

import json
import shutil

import made_reports as made
import pytest
from stored import files_in


@pytest.fixture
def store(real_rows, tmp_path):
    rows = [made.row(real_rows[kind][0], run_date=f"2026-11-{10 + day}", project_name=project)
            for kind in ("steady", "leaks", "fails") for day in (0, 1) for project in ("vision", "many", "a/b")]
    rows += [made.row(row, run_id="f" * 16) for row in real_rows["ranks"]]
    return made.put(tmp_path / "store", rows)


def answers(fleet, store, *options) -> list:
    done = fleet("report", store, "--json", "-", *options)
    assert done.status == 0, done.err
    return json.loads(done.out)["questions"]


def test_answers_stay_the_same(fleet, store):
    before = answers(fleet, store)
    singles = files_in(store)
    done = fleet("compact", store)
    assert done.status == 0 and "19 files put together into 2" in done.err
    many = files_in(store)
    assert len(many) == 2 and all("/project=many/run=many/" in name for name in many)
    assert sum(map(len, many.values())) < sum(map(len, singles.values()))
    assert answers(fleet, store) == before
    assert "nothing to put together" in fleet("compact", store).err and files_in(store) == many


@pytest.mark.parametrize("at_once", [2, 19])
def test_single_files_are_read_so_many_at_once(fleet, store, monkeypatch, at_once):
    from memtrace.fleet import gather

    before = answers(fleet, store)
    monkeypatch.setattr(gather, "_AT_ONCE", at_once)
    assert answers(fleet, store) == before


def test_filters_find_what_is_together(fleet, store):
    before = [answers(fleet, store, "--project", name) for name in ("vision", "many", "a/b")]
    fleet("compact", store)
    assert [answers(fleet, store, "--project", name) for name in ("vision", "many", "a/b")] == before
    assert all(one[0]["rows"][0]["runs"] in (6, 7) for one in before)


def test_stopped_before_anything_was_deleted(fleet, store, tmp_path):
    before = answers(fleet, store)
    copy = shutil.copytree(store, tmp_path / "copy")
    fleet("compact", store)
    shutil.copytree(copy, store, dirs_exist_ok=True)
    assert answers(fleet, store) == before
    fleet("compact", store)
    assert len(files_in(store)) == 2 and answers(fleet, store) == before


@pytest.mark.parametrize("twice", [False, True])
def test_put_together_while_it_is_asked(fleet, store, monkeypatch, twice):
    """The files that were listed are gone when they are opened."""
    from memtrace.fleet import compact
    from memtrace.fleet import store as stores

    if twice:  # also those that held many
        fleet("compact", store, "--until", "2026-11-10")
    before = answers(fleet, store)
    listed = stores.Store.entries
    times = []

    def entries(self, *filters):
        found = listed(self, *filters)
        times.append(len(found))
        if len(times) == 1:
            monkeypatch.setattr(stores.Store, "entries", listed)
            assert compact.compact(self).files > 0
            monkeypatch.setattr(stores.Store, "entries", entries)
        return found

    monkeypatch.setattr(stores.Store, "entries", entries)
    assert answers(fleet, store) == before
    assert times == ([10, 2] if twice else [19, 2])


def test_only_up_to_a_day(fleet, store):
    before = answers(fleet, store)
    fleet("compact", store, "--until", "2026-11-10")
    names = list(files_in(store))
    assert len(names) == 10 and len([name for name in names if "run=many" in name]) == 1
    assert answers(fleet, store) == before


def test_a_run_that_stands_together_with_others_is_known(recorded, fleet, tmp_path):
    folders = [recorded[name].folder for name in ("steady", "ranks")]
    fleet("add", tmp_path, *folders)
    fleet("compact", tmp_path)
    together = files_in(tmp_path)
    assert "2 already there" in fleet("add", tmp_path, *folders).err
    assert files_in(tmp_path) == together


def test_what_cannot_be_read_stays(fleet, store):
    broken = store / "date=2026-11-10" / "project=x" / "run=0" / "summary.parquet"
    broken.parent.mkdir(parents=True)
    broken.write_text("nonsense")
    done = fleet("compact", store)
    assert done.status == 1 and f"{broken}: is no Parquet file" in done.err
    assert broken.read_text() == "nonsense" and len(files_in(store)) == 3
