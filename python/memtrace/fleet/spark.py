# SPDX-License-Identifier: Apache-2.0
"""The questions asked of Spark, on a cluster or here: the same files, the same tables, the same SQL as DuckDB's."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from memtrace.fleet import check, dialect, engine, schema, spark_session
from memtrace.fleet.errors import FleetError, needed
from memtrace.fleet.store import Entry, Store
from memtrace.fleet.wanted import Wanted

_MOST_TASKS = 1000  # that look at files
_SCHEMES = {"s3": "s3a"}  # of fsspec, as Hadoop calls them


def _types() -> Any:
    """A file's schema as Spark takes it: what old files lack is empty, what newer ones have besides is not read."""
    types = needed("pyspark.sql.types")
    kinds = {schema.INT: types.LongType(), schema.REAL: types.DoubleType(), schema.TEXT: types.StringType(),
             schema.FLAG: types.BooleanType()}

    def struct(columns: Sequence[schema.Column]) -> Any:
        return types.StructType([types.StructField(one.name, kinds[one.kind]) for one in columns])

    lists = [types.StructField(name, types.ArrayType(struct(rows.columns))) for name, rows in schema.LISTS.items()]
    return types.StructType(struct(schema.PROCESS).fields + lists)


def _looked_at(store: Store, paths: Sequence[str]) -> List[Tuple[str, Optional[str]]]:
    """The fault of each file, found in a worker. None: no fault; a path that is gone is left out."""
    found = []
    for path in paths:
        try:
            found.append((path, check.problem_of(store, path)))
        except FileNotFoundError:
            continue
    return found


class Spark:
    """A session in which the tables and views are. FleetError: there is nothing to ask. `settings`: KEY=VALUE each."""

    def __init__(self, store: Store, wanted: Wanted, settings: Sequence[str] = ()):
        self.notes: List[str] = []
        store.require()
        project = wanted.projects[0] if len(wanted.projects) == 1 else None
        entries = store.entries(wanted.since, wanted.until, project)
        if not entries:
            raise FleetError(f"{store.place}: holds no summaries of what was asked for; memtrace fleet add {store.place} "
                             "TRACE… writes them")
        self.session = spark_session.start(settings)
        try:
            self._open(store, self._readable(store, entries), wanted)
        except BaseException:
            self.session.stop()
            raise

    def _readable(self, store: Store, entries: Sequence[Entry]) -> List[str]:
        """Their paths; of those that cannot be read a sentence in notes. Only the end of each file is looked at."""
        paths = [entry.path for entry in entries]
        tasks = min(_MOST_TASKS, len(paths), 4 * self.session.sparkContext.defaultParallelism)
        parts = [paths[number::tasks] for number in range(tasks)]
        looked = self.session.sparkContext.parallelize(parts, tasks).flatMap(lambda part: _looked_at(store, part))
        problems = dict(looked.collect())
        self.notes = [problems[path] for path in paths if problems.get(path)]
        good = [path for path in paths if path in problems and problems[path] is None]
        if not good:
            raise FleetError(f"{store.place}: holds no summary that can be read: {(self.notes or ['all are gone'])[0]}")
        return [_hadoop(store, path) for path in good]

    def _open(self, store: Store, paths: Sequence[str], wanted: Wanted) -> None:
        try:
            files = self.session.read.schema(_types()).parquet(*paths)
        except Exception as error:
            raise FleetError(f"Spark: {spark_session.words(error)}{_remedy(store, error)}") from None
        named = files.selectExpr(*schema.names(), "_metadata.file_path AS file")
        named.createOrReplaceTempView("fleet_files")
        # A process counts once: see docs/fleet.md. Mostly there is nothing to drop, and then nothing is paid.
        doubles = self.session.sql("""SELECT file, process FROM (SELECT file, process, row_number() OVER
            (PARTITION BY process ORDER BY events DESC, added_ns DESC, run_id, file) AS number FROM fleet_files)
            WHERE number > 1""").cache()
        if not doubles.isEmpty():
            named = named.join(doubles, ["file", "process"], "left_anti")
        named.select(*schema.names()).createOrReplaceTempView("stored")
        engine.prepare(self._run, self._keep, dialect.SPARK, wanted)
        # Nearly every question goes by runs.
        self.session.catalog.cacheTable("runs")

    def _run(self, statement: str) -> None:
        try:
            self.session.sql(statement)
        except Exception as error:
            raise FleetError(f"Spark: {spark_session.words(error)}") from None

    def _keep(self, name: str, query: str) -> None:
        self.session.sql(query).cache().createOrReplaceTempView(name)

    def ask(self, statement: str) -> engine.Answer:
        """FleetError: Spark's own sentence."""
        try:
            frame = self.session.sql(statement)
            return engine.Answer(tuple(frame.columns), [tuple(row) for row in frame.collect()])
        except Exception as error:
            raise FleetError(f"Spark: {spark_session.words(error)}") from None

    def close(self) -> None:
        self.session.stop()


def _hadoop(store: Store, path: str) -> str:
    """A path of the store as Spark takes it."""
    if store.is_local:
        return f"file://{path}"
    scheme, separator, rest = store.shown(path).partition("://")
    return f"{_SCHEMES.get(scheme, scheme)}{separator}{rest}"


def _remedy(store: Store, error: BaseException) -> str:
    if not store.is_local and "ClassNotFoundException" in str(error):
        return ("; Spark reaches object storage by Hadoop's library: --spark "
                "spark.jars.packages=org.apache.hadoop:hadoop-aws:VERSION, with the version of Hadoop that Spark came with")
    return ""
