# SPDX-License-Identifier: Apache-2.0
"""moto's server: an S3 on this machine, for as long as a test needs one."""

import contextlib
import importlib.util
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Iterator, NamedTuple

import runs

BUCKET = "fleet"


class Server(NamedTuple):
    url: str
    process: subprocess.Popen

    def environment(self) -> dict[str, str]:
        """The environment of a command that is to reach it."""
        return runs.environment({
            "MEMTRACE_PYTHON": runs.python(), "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1", "FSSPEC_S3_ENDPOINT_URL": self.url})

    def spark(self) -> list[str]:
        """The options by which Spark reaches it."""
        jars = ",".join(map(str, jar_files()))
        settings = {"spark.jars": jars, "spark.hadoop.fs.s3a.endpoint": self.url,
                    "spark.hadoop.fs.s3a.endpoint.region": "us-east-1", "spark.hadoop.fs.s3a.path.style.access": "true"}
        return [part for key, value in settings.items() for part in ("--spark", f"{key}={value}")]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def missing() -> str:
    """The things that are missing for it; empty: nothing."""
    return ", ".join(name for name in ("moto", "s3fs", "flask") if importlib.util.find_spec(name) is None)


def jar_files() -> list[Path]:
    """By which Spark reaches object storage: scripts/setup --spark fetches them."""
    return sorted((runs.ROOT / ".deps" / "spark" / "jars").glob("*.jar"))


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@contextlib.contextmanager
def serving(log: Path) -> Iterator[Server]:
    port = _free_port()
    with log.open("wb") as out:
        process = subprocess.Popen([runs.python(), "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
                                   stdout=out, stderr=out, env=dict(os.environ))
    server = Server(f"http://127.0.0.1:{port}", process)
    try:
        deadline = time.monotonic() + 120
        while True:
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            try:
                made = urllib.request.Request(f"{server.url}/{BUCKET}", method="PUT")
                urllib.request.urlopen(made, timeout=10).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        yield server
    finally:
        if process.poll() is None:
            server.stop()
