# SPDX-License-Identifier: Apache-2.0
"""A directory that everybody may write, as /tmp, two unprivileged users, and what they run.

The victim records and reports; the other one has been there before.
"""

import os
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import runs

VICTIM, OTHER = 65533, 65532
PROGRAMS = Path(__file__).resolve().parent / "programs"


@dataclass
class Stage:
    root: Path  # everybody may look into it

    @property
    def everybodys(self) -> Path:
        return self.root / "tmp"

    def home_of(self, user: int) -> Path:
        return self.root / str(user)

    def run(self, user: int, command: list, cwd: Path | None = None, env: dict | None = None,
            stdout=subprocess.PIPE) -> subprocess.CompletedProcess:
        return subprocess.run(
            [str(part) for part in command], user=user, group=user, extra_groups=[],
            cwd=cwd or self.home_of(user), stdin=subprocess.DEVNULL, stdout=stdout,
            stderr=subprocess.PIPE, timeout=60, check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home_of(user)), **(env or {})},
        )

    def record(self, output: Path, env: dict | None = None) -> subprocess.CompletedProcess:
        """The victim runs a small program, recorded."""
        return self.run(VICTIM, [self.root / "allocates"],
                        env={"LD_PRELOAD": str(self.root / "libmemtrace.so"),
                             "MEMTRACE_OUTPUT": str(output), **(env or {})})

    def precious(self) -> Path:
        """A file of the victim's own that must stay as it is."""
        path = self.home_of(VICTIM) / "precious"
        path.write_text("precious\n")
        os.chown(path, VICTIM, VICTIM)
        path.chmod(0o600)
        return path

    def link_by(self, user: int, name: str, target: Path) -> Path:
        path = self.everybodys / name
        path.symlink_to(target)
        os.lchown(path, user, user)
        return path


def compile_c(*arguments: object) -> None:
    subprocess.run(["gcc", *map(str, arguments)], check=True, capture_output=True)


def make() -> Stage:
    root = Path(tempfile.mkdtemp(prefix="hardening-"))
    root.chmod(0o755)
    stage = Stage(root)
    stage.everybodys.mkdir()
    stage.everybodys.chmod(0o1777)
    for user in (VICTIM, OTHER):
        stage.home_of(user).mkdir(mode=0o700)
        os.chown(stage.home_of(user), user, user)
    compile_c("-shared", "-fPIC", "-Wl,-soname,libcudart.so.13", PROGRAMS / "small_cudart.c",
              "-o", root / "libcudart.so.13")
    compile_c(PROGRAMS / "allocates.c", root / "libcudart.so.13", f"-Wl,-rpath,{root}",
              "-o", root / "allocates")
    # Linked, because the dynamic linker itself drops LD_PRELOAD for set-user-id programs.
    compile_c(PROGRAMS / "allocates.c", "-Wl,--no-as-needed", runs.library(), root / "libcudart.so.13",
              f"-Wl,-rpath,{root}", "-o", root / "set_user_id")
    shutil.copy(runs.library(), root)
    shutil.copy(runs.memtrace(), root)
    return stage


def may_set_user_id(stage: Stage) -> bool:
    return not os.statvfs(stage.root).f_flag & os.ST_NOSUID


def set_user_id(path: Path, user: int) -> None:
    os.chown(path, user, user)
    path.chmod(0o755 | stat.S_ISUID)
