# SPDX-License-Identifier: Apache-2.0
"""Programs in C and C++ that call CUDA, for the simulated libraries."""

import subprocess
from pathlib import Path

import runs

HEADERS = runs.ROOT / ".deps" / "cuda13" / "include"


def compiled(target: Path, *arguments: str | Path, compiler: str = "gcc") -> Path:
    outcome = subprocess.run([compiler, "-Wall", "-o", str(target), f"-I{HEADERS}", *map(str, arguments)],
                             capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    return target


def linked_with_cuda(target: Path, *arguments: str | Path, compiler: str = "gcc") -> Path:
    """Linked with libraries that only have the right names; the simulated ones take their place."""
    objects = [str(one) for one in arguments if str(one).endswith(".o")]
    symbols = subprocess.run(["nm", "--undefined-only", "--format=just-symbols", *objects],
                             capture_output=True, text=True, check=True).stdout.split()
    libraries = []
    for file, prefix in (("libcudart.so.13", "cuda"), ("libcuda.so.1", "cu")):
        names = sorted({name for name in symbols if name.startswith(prefix)})
        symbols = [name for name in symbols if name not in names]
        source = target.parent / f"{target.name}_{prefix}.c"
        source.write_text("".join(f"int {name}(void) {{ return 999; }}\n" for name in names))
        folder = target.parent / f"{target.name}_libraries"
        folder.mkdir(exist_ok=True)
        libraries.append(compiled(folder / file, "-shared", "-fPIC", f"-Wl,-soname,{file}", source))
    return compiled(target, *arguments, *libraries, compiler=compiler)
