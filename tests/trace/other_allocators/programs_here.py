# SPDX-License-Identifier: Apache-2.0
"""The programs of this folder that must be built or installed first."""

import subprocess
import sys
from pathlib import Path

import runs
from cuda_programs import compiled, linked_with_cuda

HERE = Path(__file__).resolve().parent

# jax[cuda13] without NVIDIA's libraries; XLA compiles its kernels with ptxas and libdevice.
JAX = ["jax==0.10.2", "jaxlib==0.10.2", "jax-cuda13-pjrt==0.10.2", "jax-cuda13-plugin==0.10.2",
       "ml_dtypes", "opt_einsum", "scipy", "numpy", "nvidia-cuda-nvcc==13.0.*", "nvidia-nvvm==13.0.*"]
# JAX asks the libraries for their versions, and the simulated ones say 0. XLA would compare times
# that mean nothing here, and build CUDA graphs by calls of the driver that the simulator lacks.
JAX_VARIABLES = {
    "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
    "XLA_FLAGS": "--xla_gpu_autotune_level=0 --xla_gpu_enable_command_buffer=",
}


def counting_allocator(folder: Path) -> Path:
    return compiled(folder / "libcounting_allocator.so", "-shared", "-fPIC",
                    HERE / "counting_allocator.c")


def c_program(folder: Path, name: str = "plain") -> Path:
    return linked_with_cuda(folder / name, compiled(folder / f"{name}.o", "-g", "-c", HERE / f"{name}.c"))


def jax_python() -> str:
    """The interpreter of .venv-jax, which is made where it is missing (600 MB on disk)."""
    folder = runs.ROOT / ".venv-jax"
    python, done = folder / "bin" / "python", folder / "memtrace.installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile",
                        "--disable-pip-version-check", *JAX], check=True)
        done.touch()
    return str(python)
