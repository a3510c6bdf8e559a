# SPDX-License-Identifier: Apache-2.0
"""memtrace fleet with Spark on this machine, and its executors."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import faults

LOCAL = ("--engine", "spark", "--spark", "spark.master=local[2]")
# Executors that are processes of their own, as on a cluster.
EXECUTORS = ("--engine", "spark", "--spark", "spark.master=local-cluster[2,1,1024]", "--spark",
             "spark.executor.memory=900m", "--spark", "spark.driver.host=127.0.0.1", "--spark",
             "spark.driver.bindAddress=127.0.0.1", "--spark", "spark.ui.enabled=false", "--spark",
             "spark.sql.shuffle.partitions=8")


def missing() -> str:
    """Why there is no Spark here; empty: there is."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed: scripts/setup --spark"
    return "" if shutil.which("java") or os.environ.get("JAVA_HOME") else "no Java: scripts/setup --spark"


def environment() -> dict[str, str]:
    return {**faults.environment(), "SPARK_LOCAL_IP": "127.0.0.1"}


def fleet(*arguments: object, timeout: float = 1200) -> subprocess.CompletedProcess:
    return subprocess.run(faults.command(*arguments), env=environment(), capture_output=True, text=True, timeout=timeout)


def report(place: object, *options: str, status: int = 0) -> dict[str, Any]:
    """`status`: 1 where files are left out."""
    done = fleet("report", place, "--json", "-", *options)
    assert done.returncode == status, done.stderr[-3000:]
    return json.loads(done.stdout)


def executors(session: int) -> list[int]:
    """Processes of this session that are executors."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[3]) == session and b"CoarseGrainedExecutorBackend" in words:
            found.append(int(folder.name))
    return found


def add_and_kill_an_executor(store: Path, sources: list[Path], log: Path) -> subprocess.CompletedProcess:
    """Once the first summary is there. AssertionError: there was no moment to kill one."""
    with log.open("w") as out:
        command = faults.command("add", store, *sources, *EXECUTORS)
        writer = subprocess.Popen(command, env=environment(), stdout=out, stderr=out, start_new_session=True)
        try:
            killed = False
            deadline = time.monotonic() + 900
            while writer.poll() is None and time.monotonic() < deadline:
                if not killed and any(store.rglob("*.parquet")):
                    victims = executors(writer.pid)
                    if victims:
                        os.kill(victims[0], signal.SIGKILL)
                        killed = True
                time.sleep(0.05)
            assert writer.poll() is not None, log.read_text()[-3000:]
            assert killed, "all was done before an executor could be killed"
        finally:
            if writer.poll() is None:
                os.killpg(writer.pid, signal.SIGKILL)
                writer.wait()
    return subprocess.CompletedProcess(command, writer.returncode, "", log.read_text())
