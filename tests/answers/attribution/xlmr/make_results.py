# SPDX-License-Identifier: Apache-2.0
"""Runs every setting traced on the smallest simulated GPU that holds it; writes RESULTS.md.

python tests/answers/attribution/xlmr/make_results.py [--into FILE]
"""

import argparse
import tempfile
from pathlib import Path

import estimate
import formulas
import xlmr_settings
import tables

HERE = Path(__file__).resolve().parent

HEAD = """# XLM-RoBERTa large as in BGE-M3: an estimate by hand, and what was measured

{count} settings of fine-tuning the model at its real size (`finetune.py`: {parameters:,} parameters
by the program's own count, {formula:,} by formula; AdamW; LoRA of rank 16 on every linear layer, or
all parameters; dropout 0.1; CLS pooling and a contrastive loss; two steps), each a process under
`memtrace dry-run`, PyTorch {torch}. Categories are those of `memtrace report` at the peak of the run;
"PyTorch" is `torch.cuda.max_memory_allocated`, "kept by forward" the difference of
`torch.cuda.memory_allocated` around forward and loss, "formula" what the model's operations must keep
(`formulas.py`, derived by hand, not fitted). GiB are 2^30 bytes. Made by
`tests/answers/attribution/xlmr/make_results.py`.
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=HERE / "RESULTS.md")
    chosen = parser.parse_args()
    results = []
    for row in xlmr_settings.all_rows():
        with tempfile.TemporaryDirectory() as folder:
            results.append(xlmr_settings.run(row, Path(folder)))
        print(results[-1].row, results[-1].gpu, flush=True)
    first = results[0]
    head = HEAD.format(count=len(results), parameters=first.said["parameters"],
                       formula=formulas.parameters(), torch=first.report["run"]["torch"])
    parts = [head, estimate.table(results), estimate.errors(results), tables.peaks(results),
             tables.agreement(results)]
    chosen.into.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
