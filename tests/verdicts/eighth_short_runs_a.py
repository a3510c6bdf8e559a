# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of an eighth set of short runs: programs/eighth_*.py.

Written from reading the programs, and held against what PyTorch's own allocator says of them, before memtrace gave a
verdict on any, by someone who had read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth

EIGHTH_SHORT_RUNS_A = []
