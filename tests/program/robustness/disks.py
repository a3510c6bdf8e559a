# SPDX-License-Identifier: Apache-2.0
"""A disk that can be stopped: an ext4 in a file, which `fsfreeze` makes wait every write."""

import subprocess
from pathlib import Path

import pytest


def done(*command) -> bool:
    return subprocess.run([str(part) for part in command], capture_output=True).returncode == 0


class Disk:
    def __init__(self, folder: Path):
        self.folder = folder
        self.is_frozen = False

    def freeze(self):
        subprocess.run(["fsfreeze", "--freeze", self.folder], check=True)
        self.is_frozen = True

    def thaw(self):
        if self.is_frozen:
            subprocess.run(["fsfreeze", "--unfreeze", self.folder], check=True)
        self.is_frozen = False


@pytest.fixture
def disk(tmp_path):
    image, folder = tmp_path / "image", tmp_path / "disk"
    folder.mkdir()
    with open(image, "wb") as file:
        file.truncate(256 << 20)
    try:
        mounted = done("mkfs.ext4", "-q", image) and done("mount", "-o", "loop", image, folder)
    except FileNotFoundError as missing:
        pytest.skip(f"no file system can be made here: {missing}")
    if not mounted:
        pytest.skip("no file system can be mounted here: that needs root and a loop device")
    made = Disk(folder)
    try:
        yield made
    finally:
        made.thaw()
        subprocess.run(["umount", folder], check=True)
