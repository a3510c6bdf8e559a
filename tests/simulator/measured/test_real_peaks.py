# SPDX-License-Identifier: Apache-2.0
"""Peaks that others measured on real GPUs come out of the dry run; make_results.py runs all rows."""

import pytest

import rows

QUICK = {"cross_entropy": 131072, "swiglu": 8192, "kl_div": 32768, "layer_norm": 16384,
         "group_norm": 2048, "fused_linear_cross_entropy": 32768}
LARGEST = {"cross_entropy": "V", "swiglu": "T", "kl_div": "V", "layer_norm": "N", "group_norm": "C",
           "fused_linear_cross_entropy": "BT"}


def quick_rows():
    chosen = {}
    for row in rows.rows():
        family = row["family"]
        if family in QUICK and row["sizes"][LARGEST[family]] == QUICK[family]:
            chosen.setdefault(family, row)
    return list(chosen.values())


@pytest.mark.parametrize("row", quick_rows(), ids=lambda row: row["family"])
def test_simulated_peak_equals_the_measured_one(row, built, tmp_path):
    result = rows.simulate(row, tmp_path)
    assert abs(result.difference) <= rows.ALLOWED
    assert abs(result.report_difference) <= rows.ALLOWED


def test_at_least_five_families_are_tested():
    assert len(quick_rows()) == len(QUICK) >= 5
