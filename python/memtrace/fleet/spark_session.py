# SPDX-License-Identifier: Apache-2.0
"""A session of Spark: that of spark-submit, of an existing cluster, or of this machine alone."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any, Dict, Sequence

from memtrace.fleet.errors import FleetError, needed

_PACKAGE = Path(__file__).resolve().parents[1]
# A fleet's questions are small for a cluster: no page, no bar, and no shuffle into 200 parts for them.
_QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF", "spark.app.name": "memtrace fleet"}
_LOCAL = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "8", "spark.driver.bindAddress": "127.0.0.1",
          "spark.driver.host": "127.0.0.1"}


def parsed(settings: Sequence[str]) -> Dict[str, str]:
    """The settings written as KEY=VALUE. FleetError: one is not so."""
    made = {}
    for one in settings:
        key, equals, value = one.partition("=")
        if not equals or not key.startswith("spark."):
            raise FleetError(f"--spark {one}: write a setting of Spark as spark.master=yarn")
        made[key] = value
    return made


def start(settings: Sequence[str]) -> Any:
    """A SparkSession whose workers have this package. FleetError: Spark or Java is not there, or does not start."""
    sql = needed("pyspark.sql")
    asked = parsed(settings)
    if not (os.environ.get("JAVA_HOME") or shutil.which("java") or os.environ.get("PYSPARK_GATEWAY_PORT")):
        raise FleetError("Spark needs Java 17 or newer, and there is none: install it (Debian: default-jre-headless), or "
                         "set JAVA_HOME; without Spark: --engine duckdb")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    # Without a master Spark takes that of spark-submit or of conf/spark-defaults.conf, else local[*].
    is_local = asked.get("spark.master", "").startswith("local")
    if is_local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = sql.SparkSession.builder
    for key, value in {**_QUIET, **(_LOCAL if is_local else {}), **asked}.items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:  # of Java, of py4j or of pyspark
        raise FleetError(f"Spark did not start: {words(error)}; it needs Java 17 or newer and what --spark names") from None
    _ship(session)
    return session


def _ship(session: Any) -> None:
    """This package to the workers: theirs may be another, or none."""
    folder = Path(tempfile.mkdtemp(prefix="memtrace-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # workers may ask for it as long as this runs
    packed = folder / "memtrace-fleet.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        for source in sorted(_PACKAGE.rglob("*")):
            if source.suffix in (".py", ".sql") and "native" not in source.parts:
                out.write(source, Path("memtrace") / source.relative_to(_PACKAGE))
    session.sparkContext.addPyFile(str(packed))


def words(error: BaseException) -> str:
    """The first sentence of what Spark says, without Java's stack."""
    java = getattr(error, "java_exception", None)
    text = str(java.getMessage() or java) if java is not None else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
