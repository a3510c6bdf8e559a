# SPDX-License-Identifier: Apache-2.0
"""A disk that fills up: one sentence, and nothing is left behind."""

import resource
import subprocess

import pytest

import runs


@pytest.mark.parametrize("form", ["sqlite", "parquet"])
def test_a_file_that_may_not_grow(two_ranks, tmp_path, form):
    """A limit of the process stands for the disk: writes fail with EFBIG from there on."""
    pytest.importorskip("pyarrow", reason="pip install pyarrow")

    def limit() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, 16_384))

    done = subprocess.run([runs.memtrace(), "export", two_ranks.traces[0], "--format", form, "-o", tmp_path / "out"],
                          capture_output=True, text=True, preexec_fn=limit,
                          env=runs.environment({"MEMTRACE_PYTHON": runs.python()}))
    assert done.returncode == 1
    sentence = done.stderr.splitlines()[-1]
    assert "cannot be written" in sentence and "another disk" in sentence
    assert list(tmp_path.iterdir()) == []
