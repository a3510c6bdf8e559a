# SPDX-License-Identifier: Apache-2.0
"""Simulates every row that was measured on a real GPU, one process a row; writes RESULTS.md.

python tests/simulator/measured/make_results.py [FAMILY...]
"""

import datetime
import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import rows  # noqa: E402

HEAD = """# Peaks measured on real GPUs, and the same from memtrace dry-run

Real: {what} ({source}). Simulated: the workload
written from its description (`programs/workloads.py`), run by `memtrace dry-run --gpu` with the GPU
of the row, one process a row; `torch` is the median of `torch.cuda.max_memory_allocated` over ten
runs, as they measure; `report` is `peak_allocated_bytes` of `memtrace report`, the peak of the whole
process. The software differs: theirs of the date in the table, here torch 2.11. Made by
`tests/simulator/measured/make_results.py` on {date}: {equal} of {count} rows within {allowed:.1%}.

| workload | GPU | measured | real MiB | simulated MiB (torch) | difference | report MiB | difference |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |
"""


def line(result: rows.Result) -> str:
    row = result.row
    return (
        f"| {rows.name(row)} | {row['gpu'].removeprefix('NVIDIA ')} | {row['measured']} "
        f"| {row['real_mib']:.2f} | {result.torch_bytes / rows.MIB:.2f} | {result.difference:+.3%} "
        f"| {result.report_bytes / rows.MIB:.2f} | {result.report_difference:+.3%} |"
    )


def main() -> int:
    described = json.loads((HERE / "real_gpus.json").read_text())
    wanted = [row for row in described["rows"] if not sys.argv[1:] or row["family"] in sys.argv[1:]]
    results = []
    for row in wanted:
        with tempfile.TemporaryDirectory() as folder:
            results.append(rows.simulate(row, Path(folder)))
        print(line(results[-1]), file=sys.stderr)
    equal = sum(abs(result.difference) <= rows.ALLOWED for result in results)
    text = HEAD.format(
        what=described["what"], source=described["source"], date=datetime.date.today().isoformat(),
        equal=equal, count=len(results), allowed=rows.ALLOWED,
    )
    text += "\n".join(map(line, results)) + "\n"
    explained = HERE / "differences.md"
    if explained.exists():
        text += "\n" + explained.read_text()
    if sys.argv[1:]:
        print(text)
    else:
        (HERE / "RESULTS.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
