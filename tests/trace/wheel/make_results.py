# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel, uses it under each Python, and writes RESULTS.md: python tests/trace/wheel/make_results.py"""

import datetime
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import other_systems  # noqa: E402
import wheels  # noqa: E402
from environments import Unavailable  # noqa: E402

HEAD = """# The wheel

Made by `tests/trace/wheel/make_results.py` on {date}: the wheel of `scripts/wheel`, installed with pip into an
environment with PyTorch's own wheel, used, and uninstalled. Each row trains five steps on the simulated GPU with
`memtrace dry-run`, and once more with `LD_PRELOAD=$(memtrace path)`.

`{name}`: {size:,} bytes, tag {tag}

| Python | PyTorch | pip install | `memtrace --version` | PyTorch's peak, bytes | memtrace's | by LD_PRELOAD | left by pip uninstall |
| --- | --- | ---: | --- | ---: | ---: | ---: | --- |
"""


def in_an_older_system(wheel: Path) -> str:
    """A row: Debian 11 has no pip, so the wheel is unpacked among its packages."""
    system = other_systems.make(other_systems.OLDER)
    system.install_torch()
    other_systems.unpack(wheel, system)
    (system.root / "tmp" / "train.py").write_text(other_systems.TRAINING)
    told = system.run("python3 -m memtrace --version").expect(0).stdout.decode().strip()
    printed = system.run("rm -rf dry && python3 -m memtrace dry-run --no-report --output dry -- python3 train.py")
    peak = int(other_systems.PEAK.search(printed.expect(0).stdout.decode())[1])
    system.run("python3 -m memtrace report dry --json dry/report.json").expect(0)
    reported = wheels.peak_in(system.root / "tmp" / "dry" / "report.json")
    return f"| 3.9 of Debian 11 | {other_systems.OLDER.torch} | unpacked | {told} | {peak:,} | {reported:,} | | |\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        wheel = wheels.build(Path(folder))
        text = HEAD.format(date=datetime.date.today().isoformat(), name=wheel.name,
                           size=wheel.stat().st_size, tag=", ".join(wheels.tags(wheel)))
        for version in wheels.VERSIONS:
            try:
                with tempfile.TemporaryDirectory() as work:
                    row = wheels.tried(wheel, version, Path(work))
            except Unavailable as why:
                text += f"| {version.python} | {version.torch} | {why} | | | | | |\n"
                continue
            text += (f"| {row.python} | {row.torch} | {row.install_s:.1f} s | {row.version} | {row.peak:,} | "
                     f"{row.reported:,} | {row.preloaded:,} | {', '.join(row.left) or 'nothing'} |\n")
        try:
            text += in_an_older_system(wheel)
        except other_systems.Unavailable as why:
            text += f"| 3.9 of Debian 11 | {why} | | | | | | |\n"
    (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    main()
