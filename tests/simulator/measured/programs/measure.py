# SPDX-License-Identifier: Apache-2.0
"""python measure.py FAMILY SIZES.json-text: the median over ten runs of the peak of forward and
backward, in bytes, as torch.cuda.max_memory_allocated says, as one line of JSON."""

import json
import statistics
import sys

import torch

from workloads import FAMILIES


def main():
    family, sizes = sys.argv[1], json.loads(sys.argv[2])
    torch.manual_seed(0)
    full = FAMILIES[family](sizes, getattr(torch, sizes["dtype"]))
    peaks = []
    for _ in range(10):
        torch.cuda.reset_peak_memory_stats()
        full()
        peaks.append(torch.cuda.max_memory_allocated())
    print(json.dumps({"median_peak_bytes": statistics.median(peaks), "peaks": peaks}))


if __name__ == "__main__":
    main()
