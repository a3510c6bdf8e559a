# SPDX-License-Identifier: Apache-2.0
"""The findings about each program of fragmented.py. Written before the first run; then corrected where the
program did not do what it was written for: with nothing kept between steps (variable_lengths) whole
segments are free, none split; segments that grow (expandable) reserve little more than is live; and
survivors and multi_scale were rewritten, since they wasted nothing."""

CAUSES = {
    "growing_cat": "growing_requests",
    "variable_lengths": "changing_requests",
    "survivors": "survivors",
    "second_stream": "other_streams",
    "busy_stream": "pending_frees",
    "train_and_evaluate": "changing_requests",
    "multi_scale": "changing_requests",
    "private_pool": "private_pools",
    "blocked": "split",
    "expandable": "none",
    "small_blocks": "none",
    "rounded": "none",
    "rounded_to_powers": "none",
    "max_split": "growing_requests",
    "emptied": "none",
    "healthy": "none",
}
BLOCKED = ("blocked", "variable_lengths", "survivors", "multi_scale")
