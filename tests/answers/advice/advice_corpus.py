# SPDX-License-Identifier: Apache-2.0
"""All programs whose best remedies are known."""

from families import FAMILIES
from healthy import HEALTHY
from held_out_remedies import HELD_OUT
from remedies import REMEDIES

CORPUS = [*REMEDIES, *HEALTHY]
# The sets that make_results.py and measure_changes.py take instead of CORPUS: programs, measured truths, table, notes.
SETS = {
    "corpus": (CORPUS, "truth.json", "RESULTS.md", "notes.md"),
    "held-out": (HELD_OUT, "held_out.json", "HELD_OUT.md", "held_out_notes.md"),
    "families": (FAMILIES, "families.json", "FAMILIES.md", "families_notes.md"),
}

__all__ = ["CORPUS", "FAMILIES", "HEALTHY", "HELD_OUT", "REMEDIES", "SETS"]
