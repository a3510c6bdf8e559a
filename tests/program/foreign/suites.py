# SPDX-License-Identifier: Apache-2.0
"""Whose tests are run: CPython's own, with CUDA in use beside them, and PyTorch's."""

import json
import subprocess
from pathlib import Path

import runs
from isolated import Module

CPYTHON = [
    "test.test_gc", "test.test_threading", "test.test_signal", "test.test_subprocess",
    "test.test_multiprocessing_main_handling", "test.test_faulthandler", "test.test_sys_settrace",
    "test.test_capi",
]
STAND_INS = Path(__file__).resolve().parent / "stand_ins"
# Suites in a checkout's folder test; with how many GPUs.
PYTORCH = {
    "test_cuda": 1, "test_cuda_multigpu": 2, "test_cuda_trace": 1, "test_cuda_primary_ctx": 2,
    "test_autograd": 1, "test_multiprocessing": 2, "test_multiprocessing_spawn": 1,
    "test_dataloader": 1,
}
VERSIONS = """
import json, platform, torch
print(json.dumps({"python": platform.python_version(), "torch": torch.__version__}))
"""


def versions() -> dict[str, str]:
    said = runs.run([runs.python(), "-c", VERSIONS], None).expect(0).stdout
    return json.loads(said.splitlines()[-1])


def packages_of(name: str) -> list[str]:
    """CPython splits large modules of tests into packages, in which each part is loaded by itself."""
    text = (f"import importlib.util as u, pkgutil; found = u.find_spec({name!r}); "
            "print(*[] if found is None else [found.name] if not found.submodule_search_locations "
            "else [f'{found.name}.{one.name}' for one in "
            "pkgutil.iter_modules(found.submodule_search_locations) if one.name.startswith('test_')])")
    return subprocess.run([runs.python(), "-c", text], capture_output=True, text=True,
                          check=True).stdout.split()


def cpython() -> list[Module]:
    found = [Module(part) for name in CPYTHON for part in packages_of(name)]
    if not found:
        raise RuntimeError(f"{runs.python()} came without CPython's own tests (the package test)")
    return [*found, *(Module(file.stem, (str(STAND_INS),)) for file in sorted(STAND_INS.glob("*.py")))]


def pytorch(checkout: Path, packages: list[str]) -> list[Module]:
    tests = checkout.resolve() / "test"
    found = [Module(name, (str(tests), *packages), True, devices, cwd=str(tests),
                    variables=(
                        # For the processes that the tests start, too.
                        ("PYTHONPATH", ":".join([str(tests), *packages])),
                        # Here the running script is the driver.
                        ("PYTORCH_DISABLE_RUNNING_SCRIPT_CHK", "1")))
             for name, devices in PYTORCH.items() if (tests / f"{name}.py").exists()]
    if not found:
        raise RuntimeError(f"{checkout} has none of {', '.join(PYTORCH)} in its folder test")
    return found
