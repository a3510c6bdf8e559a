# SPDX-License-Identifier: Apache-2.0
"""How long the report takes, and how much memory, on a trace of ten million events from ten thousand
call sites, of which three leak; beside a tenth of the events, and a hundredth of the call sites. Each
once with all cores and once with one, which tells what the replays side by side are worth, and with
the parts of the report's work. The aim for ten million is 3 s and 150 MiB."""

import re
import subprocess
import tempfile
from pathlib import Path

from recording import BUILD
from trace_size import peak_memory_and_seconds

GENERATOR = BUILD / "tests/example_traces"
TRACES = [(10_000_000, 10_000), (1_000_000, 10_000), (10_000_000, 100)]


def main() -> None:
    print(f"{'events':>12}{'call sites':>12}{'one core':>12}{'report':>12}{'a second':>12}{'peak memory':>14}{'on disk':>12}")
    for events, sites in TRACES:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([GENERATOR, folder, str(events), str(sites)], check=True, stdout=subprocess.DEVNULL)
            trace, = Path(folder).glob("*.mtrace")
            report = [str(BUILD / "memtrace"), "report", str(trace)]
            _, alone = peak_memory_and_seconds(report, MEMTRACE_JOBS="1")
            memory, seconds = peak_memory_and_seconds(report)
            told = subprocess.run([*report, "-v"], check=True, capture_output=True, text=True).stderr
            print(f"{events:>12,}{sites:>12,}{alone:>10.2f} s{seconds:>10.2f} s{events / seconds / 1e6:>10.1f} M"
                  f"{memory / 2**20:>10.0f} MiB{trace.stat().st_size / 2**20:>8.1f} MiB")
            for part, took in re.findall(r": ([a-z][^:]*) in (\d+\.\d+) s$", told, re.MULTILINE):
                print(f"{took:>36} s  {part}")


if __name__ == "__main__":
    main()
