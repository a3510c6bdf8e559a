# SPDX-License-Identifier: Apache-2.0
"""Where the summaries are: a folder, or any path that fsspec knows. A file is there whole or not at all."""

from __future__ import annotations

import glob
import os
import posixpath
import re
import time
import urllib.parse
import uuid
from typing import Any, Dict, List, NamedTuple, Optional

from memtrace.fleet.errors import FleetError, StoreError, needed

NAME = "summary.parquet"
MANY = "many"  # as project and run: of files that hold the runs of a date
_UNFINISHED = ".unfinished-"
_STALE_S = 3600  # a writer takes seconds
_ONE_PUT = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oss", "memory")  # an object is there once it is whole
_PARTITION = re.compile(r"date=([^/]+)/project=([^/]+)/run=([^/]+)/([^/]+\.parquet)$")


class Entry(NamedTuple):
    """A file of the store."""

    path: str  # as fsspec and DuckDB take it
    date: str
    project: str
    run: str
    size: int

    @property
    def holds_many(self) -> bool:
        return self.run == MANY


def _encoded(project: str) -> str:
    made = urllib.parse.quote(project, safe="") or "%00"
    return f"%{ord(MANY[0]):02X}{MANY[1:]}" if made == MANY else made


class Store:
    """Raises FleetError where the place cannot be reached, read or written."""

    def __init__(self, place: str):
        self.place = place
        options = needed("fsspec.core")
        try:
            self.files, self.root = options.url_to_fs(place)
        except ImportError as error:
            raise FleetError(f"{place}: needs a package that is not installed ({error}): pip install it") from None
        except ValueError as error:
            raise FleetError(f"{place}: is no place that fsspec knows ({error})") from None
        protocol = self.files.protocol
        self.protocols = (protocol,) if isinstance(protocol, str) else tuple(protocol)
        self.is_local = "file" in self.protocols or "local" in self.protocols
        self.root = self.root.rstrip("/") or "/"

    def path_of(self, date: str, project: str, run: str, name: str = NAME) -> str:
        return f"{self.root}/date={date}/project={_encoded(project)}/run={run}/{name}"

    def path_of_many(self, date: str, name: str) -> str:
        return f"{self.root}/date={date}/project={MANY}/run={MANY}/{name}"

    def shown(self, path: str) -> str:
        """As DuckDB and people take it."""
        return path if self.is_local else self.files.unstrip_protocol(path)

    def require(self) -> None:
        """Before it is read."""
        try:
            there = self.files.isdir(self.root)
        except Exception as error:  # each filesystem has errors of its own
            raise StoreError(f"{self.place}: cannot be read: {_words(error)}") from None
        if not there:
            raise FleetError(f"{self.place}: is not there; memtrace fleet add {self.place} TRACE… makes it")

    def entries(self, first_date: Optional[str] = None, last_date: Optional[str] = None,
                project: Optional[str] = None) -> List[Entry]:
        """All files, by path; of these dates and this project, with those that hold many projects."""
        try:
            found = self._local_files() if self.is_local else self._remote_files()
        except FileNotFoundError:
            return []
        except Exception as error:
            raise StoreError(f"{self.place}: cannot be listed: {_words(error)}") from None
        made = []
        for path, size in found.items():
            parts = _PARTITION.search(path)
            if parts is None or os.path.basename(path).startswith("."):
                continue
            date, folder, run, _ = parts.groups()
            entry = Entry(path, date, urllib.parse.unquote(folder), run, size)
            if (first_date and date < first_date) or (last_date and date > last_date):
                continue
            if project is None or folder == MANY or entry.project == project:
                made.append(entry)
        return sorted(made)

    def _local_files(self) -> Dict[str, int]:
        found = {}
        pending = [self.root]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(folder) as inside:
                    for one in inside:
                        if one.is_dir():
                            pending.append(one.path)
                        elif one.name.endswith(".parquet"):
                            found[one.path] = one.stat().st_size
            except FileNotFoundError:  # deleted meanwhile, by who put many runs together
                if folder == self.root:
                    raise
        return found

    def _remote_files(self) -> Dict[str, int]:
        self.files.invalidate_cache()
        listed = self.files.find(self.root, detail=True)
        return {path: facts.get("size") or 0 for path, facts in listed.items() if path.endswith(".parquet")}

    def exists(self, path: str) -> bool:
        try:
            return bool(self.files.exists(path))
        except Exception as error:
            raise StoreError(f"{self.shown(path)}: cannot be looked at: {_words(error)}") from None

    def files_of(self, run: str, date: Optional[str]) -> List[str]:
        """Files of a run, of whatever project; None: of whatever date."""
        below = f"date={date or '*'}/project=*/run={run}/*.parquet"
        try:
            if self.is_local:
                return glob.glob(f"{glob.escape(self.root)}/{below}")
            self.files.invalidate_cache()
            return list(self.files.glob(f"{self.root}/{below}"))
        except Exception as error:
            raise StoreError(f"{self.place}: cannot be listed: {_words(error)}") from None

    def write(self, path: str, content: bytes) -> None:
        """Under its name only when it is whole; a file that is there is replaced in one step."""
        try:
            if self.is_local:
                self._write_local(path, content)
            elif any(one in _ONE_PUT for one in self.protocols):
                self.files.pipe_file(path, content)
            else:
                self._write_and_move(path, content)
        except Exception as error:
            raise StoreError(f"{self.shown(path)}: cannot be written: {_words(error)}; nothing was changed, so add it "
                             "again once that is mended") from None

    def _write_local(self, path: str, content: bytes) -> None:
        folder, name = os.path.split(path)
        unfinished = os.path.join(folder, f"{_UNFINISHED}{uuid.uuid4().hex}-{name}.tmp")
        made_folder = not os.path.isdir(folder)
        os.makedirs(folder, exist_ok=True)
        try:
            with open(unfinished, "xb") as out:
                out.write(content)
                out.flush()
                os.fsync(out.fileno())
            os.replace(unfinished, path)
        except BaseException:
            _ignore(os.unlink, unfinished)
            if made_folder:
                _ignore(os.rmdir, folder)
            raise

    def _write_and_move(self, path: str, content: bytes) -> None:
        folder, name = posixpath.split(path)
        unfinished = posixpath.join(folder, f"{_UNFINISHED}{uuid.uuid4().hex}-{name}.tmp")
        self.files.makedirs(folder, exist_ok=True)
        try:
            self.files.pipe_file(unfinished, content)
            self.files.mv(unfinished, path)
        except BaseException:
            _ignore(self.files.rm_file, unfinished)
            raise

    def delete(self, path: str) -> None:
        """Also the folders that it leaves empty. One that is gone is fine."""
        try:
            self.files.rm_file(path)
        except FileNotFoundError:
            pass
        except Exception as error:
            raise StoreError(f"{self.shown(path)}: cannot be deleted: {_words(error)}") from None
        if self.is_local:
            folder = os.path.dirname(path)
            while folder.startswith(self.root + "/") and _ignore(os.rmdir, folder):
                folder = os.path.dirname(folder)

    def sweep(self) -> int:
        """Deletes what writers left that were killed more than an hour ago."""
        swept = 0
        if self.is_local:
            for folder, _, names in os.walk(self.root):
                for name in names:
                    path = os.path.join(folder, name)
                    if name.startswith(_UNFINISHED) and _age_s(path) > _STALE_S:
                        swept += _ignore(os.unlink, path)
                        _ignore(os.rmdir, folder)
        return swept


def _age_s(path: str) -> float:
    try:
        return time.time() - os.stat(path).st_mtime
    except OSError:
        return 0


def _ignore(action: Any, path: str) -> bool:
    try:
        action(path)
    except OSError:
        return False
    return True


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).split("\n", 1)[0] or type(error).__name__
