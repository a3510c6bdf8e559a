# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a tenth set of short runs, of cases that people published: programs/tenth_*.py.

Found, written and held against PyTorch's own allocator as those of the ninth, by other searches, and by someone who had
read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth

TENTH_SHORT_RUNS_B = []
