# SPDX-License-Identifier: Apache-2.0
"""One half of the truths of a twelfth set of short runs, of cases that people published: programs/twelfth_*.py.

Found, written and held against PyTorch's own allocator as those of the ninth, by other searches, and by someone who had
read neither the analyzer nor how it decides, nor the programs of the earlier sets.
"""

from truth import FILLS, GROWS, STAYS, Truth


def of(memory, program, steps, why, source, **more):
    return Truth(f"twelfth_{program}", memory, why, steps=(steps,), min_steps=steps, source=source, **more)


GITHUB = "https://github.com"

TWELFTH_SHORT_RUNS_A = [
]

__all__ = ["FILLS", "GROWS", "STAYS"]
