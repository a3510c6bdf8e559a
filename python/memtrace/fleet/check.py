# SPDX-License-Identifier: Apache-2.0
"""Whether a file of the store is a summary that this version can read."""

from __future__ import annotations

from typing import Any, Dict, Optional

from memtrace.fleet import parquet, schema
from memtrace.fleet.errors import needed
from memtrace.fleet.store import Store


def _differs(name: str, found: Any, known: Any) -> Optional[str]:
    """Lists and structs by what is in them: what is more or less there is no difference."""
    import pyarrow as pa

    if pa.types.is_list(known) and pa.types.is_list(found):
        return _differs(name, found.value_type, known.value_type)
    if pa.types.is_struct(known) and pa.types.is_struct(found):
        for number in range(known.num_fields):
            own = known.field(number)
            at = found.get_field_index(own.name)
            problem = _differs(f"{name}.{own.name}", found.field(at).type, own.type) if at >= 0 else None
            if problem:
                return problem
        return None
    return None if found == known else f"{name} is {found} and not {known}"


def unreadable(shown: str, error: Exception) -> str:
    return f"{shown}: is no Parquet file, so it is left out ({str(error).splitlines()[0]}); add its run again"


def problem_in(found: Any, metadata: Optional[Dict[bytes, bytes]], shown: str) -> Optional[str]:
    """Checks an Arrow schema and a file's key-value metadata."""
    said = (metadata or {}).get(schema.METADATA_KEY.encode(), b"")
    if not said.isdigit():
        return f"{shown}: is no summary of memtrace, so it is left out; take it out of the store"
    if int(said) // 1000 != schema.MAJOR:
        return (f"{shown}: has version {int(said) // 1000} of the schema, and this memtrace reads {schema.MAJOR}, so it is "
                "left out; use the memtrace that wrote it, or add its run again")
    for field in schema.arrow_schema():
        at = found.get_field_index(field.name)
        problem = _differs(field.name, found.field(at).type, field.type) if at >= 0 else None
        if problem:
            return f"{shown}: {problem}, so it is left out; add its run again"
    return None


def problem_of(store: Store, path: str) -> Optional[str]:
    """Why it cannot be read, in one sentence; None: it can. FileNotFoundError: it is gone."""
    needed("pyarrow.parquet")
    try:
        with store.files.open(path, "rb") as held, parquet.opened(held) as opened:
            return problem_in(opened.schema_arrow, opened.metadata.metadata, store.shown(path))
    except FileNotFoundError:
        raise
    except Exception as error:  # whatever pyarrow thinks of it
        return unreadable(store.shown(path), error)
