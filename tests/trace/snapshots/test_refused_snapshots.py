# SPDX-License-Identifier: Apache-2.0
"""Files that are no snapshot, or not a whole one: one sentence with the remedy, exit status 2, and
nothing of them is run or written."""

import collections
import gzip
import io
import os
import pickle
import pickletools
import struct
import subprocess
import zipfile

import pytest

import made_snapshots
import runs

GOOD = pickle.dumps(made_snapshots.small(1), 4)
PROTO = b"\x80\x04"


class Hostile:
    def __reduce__(self):
        return os.system, ("touch pwned",)


def hostile(protocol: int) -> bytes:
    return pickle.dumps({"segments": [], "device_traces": [[Hostile()]]}, protocol)


def zipped() -> bytes:
    """As torch.save writes."""
    to = io.BytesIO()
    with zipfile.ZipFile(to, "w") as archive:
        archive.writestr("model/data.pkl", PROTO + b"}.")
        archive.writestr("model/version", "3\n")
    return to.getvalue()


BAD = {
    "cut_off": (GOOD[:len(GOOD) // 2], "is cut off at offset"),
    "cut_off_at_its_end": (GOOD[:-1], "is cut off at offset"),
    "cut_off_at_its_start": (GOOD[:2], "is cut off at offset 2"),
    "hostile_2": (hostile(2), "asks Python to run something (GLOBAL)"),
    "hostile_4": (hostile(4), "asks Python to run something (STACK_GLOBAL)"),
    "hostile_5": (hostile(5), "asks Python to run something (STACK_GLOBAL)"),
    "checkpoint": (zipped(), "is a model's checkpoint (torch.save)"),
    "old_checkpoint": (pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2),
                       "is a model's checkpoint (torch.save)"),
    "tensors": (PROTO + b"}\x8c\x01wctorch._utils\n_rebuild_tensor_v2\n)Rs.", "holds tensors"),
    "long_text": (PROTO + b"\x8d" + struct.pack("<Q", 10 << 30) + b"abc", "a text of 10737418240 bytes"),
    "long_number": (PROTO + b"\x8b" + struct.pack("<I", 1 << 31), "a number of 2147483648 bytes"),
    "deep": (PROTO + b"](" * 5000, "is nested deeper"),
    "far_memo": (PROTO + b"}r\xff\xff\xff\x7f.", "the number 2147483647, which does not follow"),
    "unknown_memo": (PROTO + b"h\x05.", "the number 5, and nothing has it"),
    "no_mark": (PROTO + b"}u.", "is an end without a beginning"),
    "odd_dictionary": (PROTO + b"}(K\x01u.", "is no dictionary with its values"),
    "nothing": (PROTO + b".", "it has no segments"),
    "set": (pickle.dumps({1, 2}, 4), "is opcode 0x8f"),
    "bytes": (pickle.dumps(b"weights" * 9, 4), "is opcode 0x43"),
    "class": (pickle.dumps(collections.OrderedDict(a=1), 4), "asks Python to run something"),
    "something_else": (pickle.dumps({"a": [1, 2.5, None, True, ("x", 3)]}, 4), "it has no segments"),
    "twice": (PROTO + b"](}\x94(\x8c\x06action\x8c\x05alloc\x8c\x04addrK\x01uh\x00e.",
              "is an event or block that was there before"),
    "packed": (gzip.compress(GOOD), "is packed with gzip"),
    "kineto": (b'{"traceEvents": [{"name": "[memory]"}]}', "memory events lack addresses or totals"),
    "timeline": (b"[[1, 2], [[3]]]", "is a memory timeline of PyTorch's profiler"),
}


def run(command: str, file, cwd) -> subprocess.CompletedProcess:
    return subprocess.run([runs.memtrace(), command, file.name], capture_output=True, text=True,
                          env=runs.environment(), cwd=cwd, check=False)


@pytest.mark.parametrize("name", BAD)
def test_one_sentence_and_status_2(built, tmp_path, name):
    content, expected = BAD[name]
    file = tmp_path / f"{name}.pickle"
    file.write_bytes(content)
    said = run("report", file, tmp_path)
    assert said.returncode == 2 and said.stdout == ""
    line, = said.stderr.splitlines()
    assert line.startswith(f"memtrace: {file.name}: is ") and expected in line
    assert os.listdir(tmp_path) == [file.name]


@pytest.mark.parametrize("command", ["report", "replay", "dump", "check"])
def test_every_command_refuses(built, tmp_path, command):
    file = tmp_path / "hostile.pickle"
    file.write_bytes(hostile(4))
    arguments = [command, file.name, *(["--max-peak", "1GiB"] if command == "check" else [])]
    said = subprocess.run([runs.memtrace(), *arguments], capture_output=True, text=True,
                          env=runs.environment(), cwd=tmp_path, check=False)
    assert said.returncode == 2
    assert "asks Python to run something" in said.stderr
    assert os.listdir(tmp_path) == [file.name]


def test_empty_and_missing_files_are_as_with_traces(built, tmp_path):
    (tmp_path / "empty.pickle").touch()
    for name in ("empty.pickle", "missing.pickle"):
        said = run("report", tmp_path / name, tmp_path)
        assert said.returncode == 1 and len(said.stderr.splitlines()) == 1


def written_by_hand(value: dict) -> bytes:
    """By Python's own pickler, which batches and frames otherwise than the one in C."""
    to = io.BytesIO()
    pickle._Pickler(to, 3).dump(value)
    return to.getvalue()


def test_however_it_was_pickled(built, tmp_path):
    value = made_snapshots.small(1)
    ways = {f"protocol_{protocol}": pickle.dumps(value, protocol) for protocol in (2, 3, 4, 5)}
    ways["optimized"] = pickletools.optimize(ways["protocol_4"])
    ways["by_hand"] = written_by_hand(value)
    said = set()
    for name, content in ways.items():
        file = tmp_path / f"{name}.pickle"
        file.write_bytes(content)
        done = run("dump", file, tmp_path)
        assert done.returncode == 0, done.stderr
        said.add(done.stdout)
    assert len(said) == 1 and len(said.pop().splitlines()) > 200


def test_segments_alone(built, tmp_path):
    """torch.cuda.memory_snapshot() gives no more."""
    file = tmp_path / "segments.pickle"
    file.write_bytes(pickle.dumps(made_snapshots.small(1)["segments"]))
    said = run("report", file, tmp_path)
    assert said.returncode == 0 and "without a history" in said.stdout


def test_made_up_events_lead_to_their_segments(built, tmp_path):
    file = tmp_path / "made.pickle"
    for ring in (0, 57):
        file.write_bytes(pickle.dumps(made_snapshots.small(2000, ring=ring)))
        facts = runs.report([file], tmp_path)["run"]["snapshot"]
        assert facts["events_lead_to_segments"] is True
        assert facts["history"] == ("late" if ring else "whole")


def test_segments_of_another_moment_are_told(built, tmp_path):
    value = made_snapshots.small(1)
    value["segments"][0]["blocks"][0].update(state="active_allocated", size=512)
    file = tmp_path / "torn.pickle"
    file.write_bytes(pickle.dumps(value))
    assert runs.report([file], tmp_path)["run"]["snapshot"]["events_lead_to_segments"] is False
    assert "do not lead to the segments" in run("report", file, tmp_path).stdout
