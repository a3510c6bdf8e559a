# SPDX-License-Identifier: Apache-2.0
"""Estimates and then really runs every case, one process a case; writes RESULTS.md.

python tests/answers/estimate/make_results.py
"""

import datetime
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import estimated_runs  # noqa: E402

HEAD = """# Estimates, and what the same training took

`memtrace estimate` before the run; then transformers 5.23 with random weights and PyTorch 2.11 on the
simulated {gpu}, two steps: `torch.cuda.max_memory_allocated` of backward and of the optimizer's step. Without
the CUDA context, which PyTorch does not count. Made by `tests/answers/estimate/make_results.py` on {date}: of {count}
rows the median error of the peak is {median:.1%}, the largest {largest:.1%}.

The formulas were corrected where single rows of an earlier version of this table pointed at tensors
that had been forgotten (transformers' code decided which): the table is in-sample. `use_cache` is off, batches have no padding.

| configuration | parameters | backward, estimated MiB | measured | optimizer's step, estimated | measured | error of the peak |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def line(outcome: estimated_runs.Outcome) -> str:
    mib = [f"{number / (1 << 20):,.0f}" for number in (*outcome.backward(), *outcome.step())]
    return (f"| {outcome.case.name} | {outcome.measured['parameters']:,} | "
            + " | ".join(mib) + f" | {outcome.error():+.1%} |")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        outcomes = estimated_runs.run(estimated_runs.ALL, Path(folder))
    errors = [abs(outcome.error()) for outcome in outcomes]
    text = HEAD.format(gpu=estimated_runs.GPU, date=datetime.date.today().isoformat(), count=len(outcomes),
                       median=statistics.median(errors), largest=max(errors))
    (HERE / "RESULTS.md").write_text(text + "\n".join(map(line, outcomes)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
