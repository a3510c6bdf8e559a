# SPDX-License-Identifier: Apache-2.0
"""The lines for cron, Slurm and Kubernetes in docs/fleet.md, carried out as they stand there, but for the paths; with no
more around them than cron, Slurm and a container give."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

import runs
from stored import rows_in

GUIDE = (runs.ROOT / "docs" / "fleet.md").read_text().split("## Setting it up")[1].split("\n## ")[0]


def block(after: str) -> str:
    """The first lines of code after that word."""
    return re.search(r"```\w*\n(.*?)```", GUIDE.split(after, 1)[1], re.DOTALL)[1]


@pytest.fixture
def machine(recorded, tmp_path):
    """Where the guide's paths lie here."""
    for name in ("steady", "leaks"):
        shutil.copytree(recorded[name].folder, tmp_path / "traces" / name)
    (tmp_path / "bin").mkdir()
    memtrace = tmp_path / "bin" / "memtrace"
    memtrace.write_text(f"#!/bin/sh\nMEMTRACE_PYTHON={runs.python()} exec {runs.memtrace()} \"$@\"\n")
    memtrace.chmod(0o755)
    return tmp_path


def here(text: str, machine: Path) -> str:
    for path, name in (("/shared/fleet", "fleet"), ("/shared/traces", "traces"), ("/opt/memtrace/bin", "bin")):
        text = text.replace(path, str(machine / name))
    assert "/shared" not in text and "/opt" not in text
    return text


def rows(store: Path) -> list:
    return [row for path in sorted(store.rglob("*.parquet")) for row in rows_in(path)]


def test_cron(machine):
    lines = here(block("**cron**"), machine).splitlines()
    variables = dict(line.split("=", 1) for line in lines if re.match(r"\w+=", line))
    entries = [re.fullmatch(r"((?:[-*/\d,]+\s+){5})(.+)", line) for line in lines if not re.match(r"\w+=", line)]
    assert len(entries) == 2 and all(entries) and not any("%" in one[2] for one in entries)  # cron ends a command there
    environment = {"HOME": str(machine), "LOGNAME": "root", "SHELL": "/bin/sh", "PATH": "/usr/bin:/bin", **variables}
    for entry in entries:
        for _ in range(2):  # the second time nothing is left to do
            done = subprocess.run(["/bin/sh", "-c", entry[2]], env=environment, cwd=machine, capture_output=True, text=True)
            assert done.returncode == 0 and not done.stdout, done.stderr
    assert [row["project_name"] for row in rows(machine / "fleet")] == ["vision"] * 2


def epilog(machine: Path, **variables: str) -> subprocess.Popen:
    script = machine / "epilog"
    script.write_text(here(block("**Slurm**"), machine))
    script.chmod(0o755)
    return subprocess.Popen([script], env=variables, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_slurms_epilog(machine):
    """On two nodes at once; of a job without traces; of one with a file that is none."""
    job = {"SLURM_JOB_ID": "4242", "SLURM_JOB_USER": "ada", "SLURM_JOB_ACCOUNT": "vision", "SLURM_JOB_UID": "1000"}
    (machine / "traces" / "steady").rename(machine / "traces" / "4242")
    for node in [epilog(machine, **job) for _ in range(2)]:
        said = node.communicate()[1]
        assert node.returncode == 0 and "Traceback" not in said, said
    row, = rows(machine / "fleet")
    assert (row["project_name"], row["user_name"]) == ("vision", "ada")
    assert {"label": "job", "label_value": "4242"} in row["labels"]
    without = epilog(machine, **{**job, "SLURM_JOB_ID": "4243"})
    assert without.communicate() == ("", "") and without.returncode == 0
    (machine / "traces" / "4244").mkdir()
    (machine / "traces" / "4244" / "train.py.1.mtrace").write_bytes(b"none")
    del job["SLURM_JOB_ACCOUNT"]
    bad = epilog(machine, **{**job, "SLURM_JOB_ID": "4244"})
    assert "4244/train.py.1.mtrace" in bad.communicate()[1] and bad.returncode == 0
    assert len(rows(machine / "fleet")) == 1


def test_the_job_of_kubernetes(machine):
    job = yaml.safe_load(block("**Kubernetes**"))
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob")
    assert re.fullmatch(r"([-*/\d,]+ ){4}[-*/\d,]+", job["spec"]["schedule"])
    assert job["spec"]["concurrencyPolicy"] in ("Allow", "Forbid", "Replace")
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["restartPolicy"] in ("Never", "OnFailure")  # a job's may be no other
    container, = pod["containers"]
    assert {one["name"] for one in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
    assert all(isinstance(word, str) for word in container["command"])
    places = {"s3://bucket/fleet": machine / "fleet", "/traces": machine / "traces", "memtrace": machine / "bin" / "memtrace"}
    assert set(places) <= set(container["command"]) and container["volumeMounts"][0]["mountPath"] == "/traces"
    before = sorted(path.name for path in (machine / "traces").rglob("*"))
    done = subprocess.run([str(places.get(word, word)) for word in container["command"]], cwd="/", capture_output=True,
                          text=True, env={"PATH": os.defpath})
    assert done.returncode == 0 and "2 added" in done.stderr, done.stderr
    assert sorted(path.name for path in (machine / "traces").rglob("*")) == before  # the volume is mounted to be read
    assert {row["project_name"] for row in rows(machine / "fleet")} == {"vision"}
    assert len({row["user_name"] for row in rows(machine / "fleet")}) == 1
