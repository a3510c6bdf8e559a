# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import records  # noqa: E402


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Compiles the C and C++ programs once; a function from a name to its file."""
    folder = tmp_path_factory.mktemp("compiled")
    include = ["-I", str(records.ROOT / "include"), "-I", str(records.PROGRAMS)]
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]

    def make(target, source, *options):
        path = folder / target
        language = ["c++", "-std=c++11", "-Wold-style-cast"] if source.endswith(".cpp") else ["cc", "-std=c99"]
        subprocess.run([*language, *strict, *include, "-o", path, records.PROGRAMS / source, *options],
                       check=True)
        return path

    cudart = make("libcudart.so.13", "cudart.c", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.13")
    make("told", "told.c", cudart)
    make("told_no_pie", "told.c", "-O2", "-fno-pie", "-no-pie", cudart)
    make("plugin.so", "plugin.c", "-shared", "-fPIC")
    make("scopes", "scopes.cpp", "-O2", "-pthread", cudart)
    make("nvtx_instance", "nvtx_instance.c", "-std=c11", cudart)
    make("two_versions", "two_versions.c", cudart)
    for version in ("98", "99"):
        soname = f"libcublas.so.{version}"
        node = folder / f"{version}.map"
        node.write_text(f"{soname} {{ global: cublas*; local: *; }};\n")
        shared = ["-shared", "-fPIC", f"-DVERSION={version}"]
        blas = make(soname, "library_version.c", *shared, f"-Wl,-soname,{soname}",
                    f"-Wl,--version-script,{node}")
        make(f"framework{version}.so", "library_version.c", *shared, "-DFRAMEWORK", blas,
             f"-Wl,-rpath,{folder}")
    return lambda name: folder / name
