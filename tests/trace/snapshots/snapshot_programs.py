# SPDX-License-Identifier: Apache-2.0
"""The programs of takes_snapshots.py, and what is known of their snapshots, without importing torch."""

# The history holds everything from the first allocation on.
WHOLE = ["training", "leaking", "all_frames", "varying", "pools", "streams", "expandable", "rounded",
         "two_devices", "out_of_memory", "named"]
LATE = ["ring", "expandable_late"]
QUICK = [*WHOLE, *LATE, "no_history"]
HISTORY = {**dict.fromkeys(WHOLE, "whole"), **dict.fromkeys(LATE, "late"), "no_history": "none"}
SAME_FRAGMENTATION = [name for name in WHOLE if name != "named"]
# Those that run under every version of PyTorch in RESULTS.md.
VERSIONS = ["training", "leaking", "all_frames", "ring", "no_history", "varying", "expandable", "pools",
            "streams", "two_devices", "out_of_memory"]
