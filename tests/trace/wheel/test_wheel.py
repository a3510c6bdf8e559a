# SPDX-License-Identifier: Apache-2.0
"""One wheel for all Pythons: installed as a user would, it records, reports and goes without a trace."""

import subprocess
import zipfile

import pytest

import wheels
from environments import Unavailable

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return wheels.build(tmp_path_factory.mktemp("dist"))


def test_one_small_wheel_for_all_pythons(wheel):
    assert wheels.tags(wheel) == ["py3-none-manylinux_2_28_x86_64"]
    assert wheel.name == f"gpu_memtrace-{wheels.version()}-py3-none-manylinux_2_28_x86_64.whl"
    assert wheel.stat().st_size <= wheels.MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    native = {f"memtrace/native/{name}" for name in (
        "memtrace", "libmemtrace.so", "simulator/cuda12/libmemtrace_cuda.so",
        "simulator/cuda13/libmemtrace_cuda.so", "simulator/libmemtrace_watchdog.so",
        "simulator/libmemtrace_untouched.so")}
    assert native <= names
    assert {name for name in names if ".so" in name} == {name for name in native if ".so" in name}
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)
    shared = {name.split(".data/data/share/")[1] for name in names if ".data/data/share/" in name}
    assert shared == {"bash-completion/completions/memtrace", "zsh/site-functions/_memtrace",
                      "fish/vendor_completions.d/memtrace.fish", "man/man1/memtrace.1"}
    assert {"memtrace/licenses/libzstd-dev", "memtrace/licenses/libfmt-dev"} <= names


@pytest.mark.parametrize("version", wheels.VERSIONS, ids=lambda version: version.name)
def test_installed_used_and_uninstalled(version, wheel, tmp_path):
    try:
        done = wheels.tried(wheel, version, tmp_path)
    except Unavailable as why:
        pytest.skip(str(why))
    assert done.version == done.recorded_with == wheels.version()
    assert done.peak == done.reported == done.preloaded > 0
    assert done.left == []


def test_a_command_without_its_program_says_so(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    (tmp_path / "memtrace" / "native" / "memtrace").unlink()
    done = subprocess.run([wheels.runs.python(), "-m", "memtrace", "--version"], cwd=tmp_path,
                          env=wheels.clean_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "cannot be run (No such file or directory)" in done.stderr
