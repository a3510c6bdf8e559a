# SPDX-License-Identifier: Apache-2.0
"""The distribution is gpu-memtrace: memtrace on PyPI is another project, which writes into the same folder."""

import shutil
import subprocess
import tomllib

import runs

ENTER = "from memtrace._command import main; main()"


def test_beside_the_other_package_the_command_says_what_to_do(tmp_path):
    ours = tmp_path / "memtrace"
    ours.mkdir()
    (ours / "__init__.py").touch()
    shutil.copy(runs.ROOT / "python" / "memtrace" / "_command.py", ours)
    (tmp_path / "gpu_memtrace-0.2.0.dist-info").mkdir()

    def entered():
        return subprocess.run([runs.python(), "-c", ENTER, "--version"], cwd=tmp_path, capture_output=True, text=True,
                              env=runs.environment({"MEMTRACE_BUILD": str(runs.build())}), check=False)

    assert entered().returncode == 0
    (tmp_path / "memtrace-1.0.dist-info").mkdir()
    done = entered()
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "pip uninstall memtrace gpu-memtrace" in done.stderr


def test_what_is_printed_to_install_names_the_distribution():
    name = tomllib.loads((runs.ROOT / "pyproject.toml").read_text())["project"]["name"]
    assert name == "gpu-memtrace"
    places = [path for folder in ("python", "analyzer", "docs", "examples") for path in (runs.ROOT / folder).rglob("*")
              if path.suffix in {".py", ".cpp", ".md", ".yml"}]
    assert len(places) > 300
    told = [f"{path}: {line}" for path in [runs.ROOT / "README.md", *places] for line in path.read_text().splitlines()
            if "memtrace[" in line.replace("gpu-memtrace[", "") and "pip install" in line]
    assert told == []
