# SPDX-License-Identifier: Apache-2.0
"""Writes RESULTS.md: python tests/answers/guides/make_results.py DIRECTORY (keeps the measurements; some 20 minutes)."""

import sys
from collections import Counter
from pathlib import Path

from claims import BATCHES, RECORD, SAVING
from host_claims import HOST
from measure import Measurements

HEAD = """# Three guides written by hand, checked

What people who train summarizers wrote down about memory, each statement beside runs of T5 and mT5 made
from their published configurations (random weights) on the GPUs they name, simulated. Made by
`make_results.py`; the rule of each verdict is in `claims.py`. "In use" is what nvidia-smi would show:
reserved by PyTorch and the context, whose size is the simulator's ({context}). Where a guide gives no
lengths: 512 tokens in, 128 out. This build of PyTorch (CUDA 13) does not support a real V100; the simulated
one runs it nevertheless. Statements about the guides' own arithmetic are worked out again, without a run.

"""


def main(directory):
    measure = Measurements(Path(directory))
    groups = {"saving memory": [], "batch sizes": [], "record of changes": []}
    for claim in [*SAVING, *BATCHES, *RECORD, *HOST]:
        verdict, measured = claim.check(measure)
        groups[claim.guide].append((claim.text, verdict, measured))
        print(f"{verdict:10}  {claim.text}: {measured}", flush=True)
    counted = Counter(verdict for rows in groups.values() for _, verdict, _ in rows)
    text = HEAD.format(context="256 MiB, unverified")
    text += ", ".join(f"{count} {verdict}" for verdict, count in counted.most_common()) + ".\n"
    titles = {"saving memory": "A guide to saving memory", "batch sizes": "A guide to batch sizes by GPU",
              "record of changes": "A record of changes to one run"}
    for guide, rows in groups.items():
        text += f"\n## {titles[guide]}\n\n| it says | verdict | measured |\n| --- | --- | --- |\n"
        text += "".join(f"| {said} | {verdict} | {measured} |\n" for said, verdict, measured in rows)
    Path(__file__).with_name("RESULTS.md").write_text(text)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "build/guides")
