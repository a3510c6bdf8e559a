# SPDX-License-Identifier: Apache-2.0
"""The installed torch and its extensions on the stand-ins, alone and beside NVIDIA's own libraries."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import runs

pytestmark = pytest.mark.skipif(runs.on_real_gpu(), reason="the real GPU needs no stand-ins")

USE_THE_GPU = """
import torch
x = torch.ones(64, 64, device="cuda")
torch.linalg.qr(x @ x)
torch.fft.fft(x)
torch.cuda.synchronize()
print(torch.cuda.is_available(), torch.cuda.memory_allocated() > 0)
"""


def bare(*command: str, options: tuple[str, ...] = (), **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(runs.memtrace()), "dry-run", "--bare", *options, "--", *command],
        capture_output=True, text=True, timeout=300, env={**os.environ, **variables})


@pytest.mark.parametrize("module", ["torch", "torchvision", "bitsandbytes", "triton"])
def test_extensions_are_imported(module):
    done = bare(runs.python(), "-c", f"import {module}; print({module}.__name__)")
    assert (done.returncode, done.stdout) == (0, module + "\n"), done.stderr


def test_the_gpu_is_used():
    done = bare(runs.python(), "-c", USE_THE_GPU)
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr


def site_packages() -> Path:
    return Path(subprocess.check_output(
        [runs.python(), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True).strip())


@pytest.fixture
def beside_nvidia_libraries(tmp_path):
    """The installed packages by links, with libraries where torch's DT_RPATH finds them first. They
    define nothing: a program that loads one of them stops at its first CUDA function."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    packages = tmp_path / "site-packages"
    subprocess.run(["cp", "-rs", str(site_packages()), str(packages)], check=True)
    for soname in ("libcudart.so.13", "libcublas.so.13", "libcublasLt.so.13"):
        folder = packages / "nvidia" / "cu13" / "lib"
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([compiler, "-shared", "-x", "c", "/dev/null", f"-Wl,-soname,{soname}",
                        "-o", str(folder / soname)], check=True)
    return packages


def test_installed_nvidia_libraries_are_never_loaded(beside_nvidia_libraries):
    check = USE_THE_GPU + "print([l for l in open('/proc/self/maps') if '/nvidia/cu13/' in l])"
    done = bare(runs.python(), "-c", check, options=("--site-packages", str(beside_nvidia_libraries)),
                PYTHONPATH=str(beside_nvidia_libraries))
    assert (done.returncode, done.stdout) == (0, "True True\n[]\n"), done.stderr


def test_the_libraries_of_that_test_would_be_noticed(beside_nvidia_libraries):
    done = subprocess.run(
        [runs.python(), "-c", "import torch"], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": str(beside_nvidia_libraries)})
    assert done.returncode != 0


def test_calls_without_implementation_are_in_the_log(tmp_path):
    log = tmp_path / "calls"
    program = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuArrayGetPlane(0, 0, 0))"
    done = bare(runs.python(), "-c", program, MEMTRACE_SIM_LOG=str(log))
    assert (done.returncode, done.stdout) == (0, "801\n"), done.stderr
    assert "cuArrayGetPlane" in done.stderr
    assert "unsupported cuArrayGetPlane" in log.read_text().splitlines()


@pytest.mark.parametrize(("status", "hint"), [(3, True), (0, False)])
def test_a_failure_without_pytorch_names_the_remedy(tmp_path, status, hint):
    done = bare("sh", "-c", f"exit {status}", options=("--site-packages", str(tmp_path)))
    assert done.returncode == status
    assert ("--site-packages DIR" in done.stderr) == hint
