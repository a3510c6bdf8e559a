# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a ninth set of short runs, of cases that people published: programs/ninth_*.py.

Each case stands in a public place, which its truth names: a thread in which somebody reports growing GPU memory that came
out as a leak of the program, or a public repository's code that fills a buffer. The programs are written anew. Which case is
taken was not chosen by what it would be to judge: the searches' results in their order. Held against what PyTorch's own
allocator says of them, before memtrace gave a verdict on any, by someone who had read neither the analyzer nor how it
decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth

NINTH_SHORT_RUNS_B = []
