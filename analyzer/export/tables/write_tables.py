# SPDX-License-Identifier: Apache-2.0
"""Columns as column_spool.h lays them out, to Arrow or Parquet files: python -c THIS SPOOL FOLDER FORMAT VERSION.

One batch after the other, so that memory does not grow with the rows. Python 3.9 or later with pyarrow."""

import json
import os
import sys

import pyarrow as pa
import pyarrow.ipc

TYPES = {"integer": pa.int64(), "real": pa.float64(), "text": pa.dictionary(pa.int32(), pa.string())}
WIDTHS = {"integer": 8, "real": 8, "text": 4}
BATCHES_IN_A_ROW_GROUP = 8


def padded(size):
    return (size + 7) // 8 * 8


def batches(table, spool, schema):
    """The record batches of a table."""
    columns = table["columns"]
    texts = [pa.array(column["texts"], pa.string()) for column in columns]
    codec = pa.Codec("zstd")
    path = os.path.join(spool, table["name"] + ".columns")
    if not table["batches"]:
        return
    with open(path, "rb") as held:
        for _, compressed, size, rows in table["batches"]:
            content = codec.decompress(held.read(compressed), decompressed_size=size)
            arrays, at = [], 0
            for column, words in zip(columns, texts):
                valid = content.slice(at, (rows + 7) // 8)
                at += (rows + 63) // 64 * 8
                values = content.slice(at, rows * WIDTHS[column["type"]])
                at += padded(rows * WIDTHS[column["type"]])
                kind = TYPES[column["type"]]
                if column["type"] == "text":
                    codes = pa.Array.from_buffers(pa.int32(), rows, [valid, values])
                    arrays.append(pa.DictionaryArray.from_arrays(codes, words))
                else:
                    arrays.append(pa.Array.from_buffers(kind, rows, [valid, values]))
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def schema_of(table, schema_version, version):
    fields = [pa.field(column["name"], TYPES[column["type"]], metadata={"description": column["meaning"]})
              for column in table["columns"]]
    return pa.schema(fields, metadata={"memtrace_schema": str(schema_version), "memtrace_version": version,
                                       "row": table["row"]})


def write_arrow(path, schema, made):
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(path, "wb") as out, pa.ipc.new_file(out, schema, options=options) as writer:
        for batch in made:
            writer.write_batch(batch)


def write_parquet(path, schema, made):
    import pyarrow.parquet

    with pa.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        group = []
        for batch in made:
            group.append(batch)
            if len(group) == BATCHES_IN_A_ROW_GROUP:
                writer.write_table(pa.Table.from_batches(group, schema))
                group = []
        if group:
            writer.write_table(pa.Table.from_batches(group, schema))


def main(spool, folder, form, version):
    pa.set_memory_pool(pa.system_memory_pool())  # what is freed goes back at once
    with open(os.path.join(spool, "tables.json"), encoding="utf-8") as file:
        held = json.load(file)
    for table in held["tables"]:
        schema = schema_of(table, held["schema_version"], version)
        write = {"arrow": write_arrow, "parquet": write_parquet}[form]
        write(os.path.join(folder, table["name"] + "." + form), schema, batches(table, spool, schema))
        os.unlink(os.path.join(spool, table["name"] + ".columns"))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(f"{error.filename or sys.argv[2]}: {error.strerror or error}")
