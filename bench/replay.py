# SPDX-License-Identifier: Apache-2.0
"""How many requests a second the model of the allocator replays, by option, on one core: of a
thousand training steps with variable lengths. Beside it what memtrace replay takes in all, which
replays every option with several addresses and searches the smallest memory that fits."""

import subprocess
import sys
import tempfile
from pathlib import Path

from recording import BUILD, ROOT, command
from trace_size import peak_memory_and_seconds

OPTIONS = [
    "", "expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:4",
    "large_segment_size_mb:64", "garbage_collection_threshold:0.5,per_process_memory_fraction:0.9",
]


def main(steps: str) -> None:
    with tempfile.TemporaryDirectory() as output:
        program = [sys.executable, str(ROOT / "bench" / "many_steps.py"), steps, "variable"]
        subprocess.run([*command(True, output), *program], check=True, capture_output=True)
        (trace,) = Path(output).glob("*.mtrace")
        subprocess.run([str(BUILD / "tests" / "replay_speed"), str(trace), *OPTIONS], check=True)
        memory, seconds = peak_memory_and_seconds([str(BUILD / "memtrace"), "replay", str(trace)])
        print(f"memtrace replay with the usual options: {seconds:.2f} s, "
              f"peak memory {memory / 2**20:.0f} MiB")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "1000")
