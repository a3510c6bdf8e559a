# SPDX-License-Identifier: Apache-2.0
"""Writers that are killed, disks that are full, files that are none, a store that is gone: nothing is lost, nothing is
there twice, and there is a sentence."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "generator")]

import faults  # noqa: E402
import object_store  # noqa: E402
import real_runs  # noqa: E402
import settings  # noqa: E402

CHOSEN = ("steady_mlp_08", "leak_mlp_28")


@pytest.fixture(scope="module")
def traces(built, tmp_path_factory):
    """Two recordings of other programs."""
    named = os.environ.get("MEMTRACE_FLEET_REAL")
    folder = Path(named) / "traces" if named else tmp_path_factory.mktemp("traces")
    made = []
    for setting in settings.ALL:
        if setting.name in CHOSEN:
            if not (folder / setting.name).exists():
                real_runs.record(setting, folder / setting.name)
            made += sorted((folder / setting.name).glob("*.mtrace"))
    assert len(made) == len(CHOSEN)
    return made


@pytest.mark.parametrize("fault", faults.ALL)
def test_nothing_is_lost_and_there_is_a_sentence(fault, traces, tmp_path):
    if faults.ALL[fault] is faults.full_disk and not faults.can_mount(tmp_path / "mount"):
        pytest.skip("no file system can be mounted here: root is needed")
    assert faults.ALL[fault](tmp_path, traces)


def test_object_storage(traces, tmp_path):
    """Written, read, added again without effect; and a sentence once the server is gone."""
    if object_store.missing():
        pytest.skip(f"not installed: {object_store.missing()}")
    place = f"s3://{object_store.BUCKET}/teams/fleet"
    sources = faults.copies(traces, tmp_path / "traces")
    with object_store.serving(tmp_path / "moto.log") as server:
        def fleet(*arguments):
            return subprocess.run(faults.command(*arguments), env=server.environment(), capture_output=True, text=True)

        added = fleet("add", place, *sources)
        assert added.returncode == 0 and f"{len(sources)} added" in added.stderr, added.stderr
        again = fleet("add", place, *sources)
        assert again.returncode == 0 and f"{len(sources)} already there" in again.stderr, again.stderr
        remote = fleet("report", place, "--json", "-")
        assert remote.returncode == 0, remote.stderr
        local = tmp_path / "fleet"
        assert fleet("add", local, *sources).returncode == 0
        answers = [json.loads(done.stdout)["questions"] for done in (remote, fleet("report", local, "--json", "-"))]
        assert answers[0] == answers[1] and any(question["rows"] for question in answers[0])
        server.stop()
        gone = fleet("add", place, *sources, "--again")
        assert gone.returncode == 1 and "Traceback" not in gone.stderr
        assert faults.sentence(gone, place.removeprefix("s3://"))


def test_several_machines_write_to_object_storage_at_once(traces, tmp_path):
    """Each has its own copy of the traces, and adds all of them: each run is there once, and whole."""
    if object_store.missing():
        pytest.skip(f"not installed: {object_store.missing()}")
    place = f"s3://{object_store.BUCKET}/fleet"
    with object_store.serving(tmp_path / "moto.log") as server:
        writers = [subprocess.Popen(faults.command("add", place, *faults.copies(traces, tmp_path / machine), "--jobs", 2),
                                    env=server.environment(), stderr=subprocess.PIPE, text=True)
                   for machine in ("one", "two", "three")]
        said = [writer.communicate()[1] for writer in writers]
        assert [writer.returncode for writer in writers] == [0, 0, 0], said
        import s3fs

        files = s3fs.S3FileSystem(key="test", secret="test", endpoint_url=server.url)
        copied = tmp_path / "copied"
        files.get(f"{object_store.BUCKET}/fleet/", str(copied), recursive=True)
    assert len(faults.run_ids(copied)) == len(set(faults.run_ids(copied))) == len(traces)
    assert not faults.leftovers(copied)
    faults.counted(copied, len(traces))
