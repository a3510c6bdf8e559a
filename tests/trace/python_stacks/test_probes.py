# SPDX-License-Identifier: Apache-2.0
"""That the tests which load probes cannot be skipped by a probe that is missing."""
import probes
import pytest


def test_without_a_build_tests_are_skipped_with_the_reason(monkeypatch, tmp_path):
    monkeypatch.setenv("MEMTRACE_BUILD", str(tmp_path / "build"))
    with pytest.raises(pytest.skip.Exception, match="nothing is built in"):
        probes.need("memtrace_python_probe")


def test_in_a_build_a_missing_probe_is_a_failure(monkeypatch, tmp_path):
    monkeypatch.setenv("MEMTRACE_BUILD", str(tmp_path))
    with pytest.raises(AssertionError, match="has no .*memtrace_python_probe"):
        probes.need("memtrace_python_probe")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/libmemtrace_python_probe.so").touch()
    probes.need("memtrace_python_probe")
