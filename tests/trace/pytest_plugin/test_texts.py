# SPDX-License-Identifier: Apache-2.0
"""The ways to write a limit, and the answers to a wrong one."""

import re
import subprocess
import sys

import pytest

import runs
import suite_runs

sys.path.insert(0, str(runs.ROOT / "python"))

from memtrace import _pytest_limits as limits  # noqa: E402


@pytest.mark.parametrize(("text", "expected"), [
    ("1 B", 1), ("0 bytes", 0), ("2 GiB", 2 << 30), ("1.5GiB", 3 << 29), ("1 kB", 1000), ("1 KiB", 1024),
    ("100 MB", 100_000_000), (" 3 gb ", 3 * 10**9), ("1 TiB", 1 << 40), ("0.1 MB", 100_000),
])
def test_a_size(text, expected):
    assert limits.bytes_of(text) == expected


@pytest.mark.parametrize("wrong", ["", "2", "two GiB", "-1 GiB", "2 GiBs", "2 G", "1e3 MB", "1,5 GiB", "GiB", 2, None,
                                   "١ GiB"])
def test_no_size(wrong):
    with pytest.raises(ValueError):
        limits.bytes_of(wrong)


@pytest.mark.parametrize(("count", "expected"), [
    (0, "0 bytes"), (512, "512 bytes"), (30 << 20, "30 MiB"), (3 << 29, "1.5 GiB"),
    ((30 << 20) + 512, "30 MiB (31,457,792 bytes)"),
])
def test_a_size_is_told_exactly(count, expected):
    assert limits.size(count) == expected


WRONG = """
    import pytest

    @pytest.mark.parametrize("case", ["ran"])
    @pytest.mark.{marker}
    def test_it(case): pass

    def test_other(): pass
    """


@pytest.mark.parametrize(("marker", "told"), [
    ('limit_gpu_memory("2")', "'2' has no unit"),
    ('limit_gpu_memory("-1 GiB")', "'-1 GiB' is not a size"),
    ('limit_gpu_memory(2 << 30)', "2147483648 is not a text"),
    ('limit_gpu_memory()', "exactly one size"),
    ('limit_gpu_memory("1 GiB", limit="2 GiB")', "exactly one size"),
    ('limit_gpu_memory("1 GiB", tolerance=2)', "2 is not a percentage"),
    ('limit_gpu_memory("1 GiB", tolerance="-2%")', "'-2%' is not a percentage"),
    ('limit_gpu_leaks("1 parsec")', "unit 'parsec'"),
    ('limit_gpu_leaks("1 GiB", tolerance="2%")', "knows no tolerance"),
])
def test_a_wrong_marker_is_an_error_of_its_test_alone(tmp_path, marker, told):
    done = suite_runs.run_plainly(tmp_path, {"test_wrong.py": WRONG.format(marker=marker)})
    assert done.outcomes == {"test_it[ran]": "error", "test_other": "passed"}, done.text
    message = done.messages["test_it[ran]"]
    assert told in message and f"write @pytest.mark.{marker.split('(')[0]}(" in message
    assert "Traceback" not in done.text and done.status == 1


def test_a_wrong_ini_option_is_a_usage_error(tmp_path):
    done = suite_runs.run_plainly(tmp_path, {"test_any.py": "def test_it(): pass",
                                         "pytest.ini": "[pytest]\nmemtrace_limit_gpu_memory = 2\n"})
    assert done.status == 4 and "write memtrace_limit_gpu_memory = 2 GiB" in done.text


def test_the_markers_are_registered(tmp_path):
    done = suite_runs.run_plainly(tmp_path, {"test_any.py": ""}, "--markers", "--strict-markers")
    assert "@pytest.mark.limit_gpu_memory(limit, tolerance=None)" in done.text
    assert "@pytest.mark.limit_gpu_leaks(limit)" in done.text


def test_pytest_finds_the_plugin_by_the_packages_entry_point(tmp_path):
    project = (runs.ROOT / "pyproject.toml").read_text()
    names = re.search(r'^\[project\.entry-points\.pytest11\]\n(\w+) = "([\w.]+)"$', project, re.M)
    installed = tmp_path / "installed" / "gpu_memtrace-0.2.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: gpu-memtrace\nVersion: 0.2.0\n")
    (installed / "entry_points.txt").write_text("[pytest11]\n{} = {}\n".format(*names.groups()))
    path = f"{installed.parent}:{runs.ROOT / 'python'}"
    told = subprocess.run([runs.python(), "-m", "pytest", "--markers"], cwd=tmp_path, capture_output=True, text=True,
                          env=runs.environment({"PYTHONPATH": path}), check=True).stdout
    assert "@pytest.mark.limit_gpu_memory(" in told
