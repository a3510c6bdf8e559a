# SPDX-License-Identifier: Apache-2.0
"""A scrubbed trace tells nobody's name or directory, and reports what the original reports."""

import shutil
import socket
import subprocess
from pathlib import Path

import pytest

import runs

PROGRAMS = Path(__file__).resolve().parent / "programs"
SECRETS = ["ada", "projectx", "hunter2", "thesecretrun", "gpu-cluster"]


@pytest.fixture(scope="module")
def traces(built, tmp_path_factory):
    """The trace of a leaking training, and its scrubbed copy."""
    home = tmp_path_factory.mktemp("machine") / "home" / "ada" / "projectx"
    home.mkdir(parents=True)
    for program in PROGRAMS.glob("*.py"):
        shutil.copy(program, home)
    outcome = runs.run(
        [runs.python(), home / "leaking_training.py", "--password", "hunter2", "--name=thesecretrun"],
        home / "trace", cwd=home,
        env={"PYTORCH_CUDA_ALLOC_CONF": "garbage_collection_threshold:0.8",
             "CUDA_VISIBLE_DEVICES": "0", "NCCL_ALGO": "gpu-cluster"},
    ).expect(0)
    assert outcome.stdout == b"arguments 4\n"
    scrubbed = subprocess.run(
        [runs.memtrace(), "scrub", home / "trace", "--output", home / "copies"],
        capture_output=True, env=runs.environment())
    assert scrubbed.returncode == 0, scrubbed.stderr
    (original,) = outcome.traces
    return original, home / "copies" / original.name


def test_nothing_of_it_is_left(traces):
    original, copy = traces
    before, after = (subprocess.run([runs.memtrace(), "dump", one], capture_output=True,
                                    env=runs.environment(), check=True).stdout.decode()
                     for one in traces)
    secrets = [*SECRETS, str(runs.ROOT)]
    if len(socket.gethostname()) >= 3 and socket.gethostname() != "localhost":
        secrets.append(socket.gethostname())
    words = lambda text: text.replace("memtrace", "")  # noqa: E731
    for secret in secrets:
        if secret != "ada":  # which is in many words
            assert secret in before, f"{secret} was not recorded, so that it proves nothing"
            assert secret not in words(after), secret
    for place in ("/ada/", "of ada", "layers_of_ada"):
        assert place in before and place not in after
    assert "garbage_collection_threshold:0.8" in after
    # Nor in the bytes of the file that no record is in.
    assert b"projectx" not in copy.read_bytes()


def leaves(value, path=()):
    """Every value of a report by where it stands, and how many parts there are."""
    if isinstance(value, (dict, list)):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        yield (*path, "length"), len(value)
        for name, part in parts:
            yield from leaves(part, (*path, name))
    else:
        yield path, value


def tells(text: object) -> bool:
    """Whether a text holds what is hidden; a path may be a relative one."""
    told = [*SECRETS, "/", socket.gethostname()]
    return isinstance(text, str) and any(word in text for word in told)


def test_the_report_is_the_same(traces, tmp_path):
    """Every number, and every text that tells nothing of what is hidden: categories, verdicts,
    names of modules."""
    original, copy = (dict(leaves(runs.report([one], tmp_path))) for one in traces)
    different = {path: (original.get(path), copy.get(path))
                 for path in original.keys() | copy.keys() if original.get(path) != copy.get(path)}
    unexpected = {path: pair for path, pair in different.items()
                  if "command" not in path and not tells(pair[0])}
    assert not unexpected
    # The other way round: what is compared is a real report, and something was hidden.
    assert len(original) > 1000 and len(different) > 10


def test_a_scrubbed_copy_can_be_scrubbed_again(traces, tmp_path):
    _, copy = traces
    done = subprocess.run([runs.memtrace(), "scrub", copy, "--output", tmp_path],
                          capture_output=True, env=runs.environment())
    assert done.returncode == 0
    again = runs.dump(tmp_path / copy.name)
    assert len(again) == len(runs.dump(copy))
