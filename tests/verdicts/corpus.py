# SPDX-License-Identifier: Apache-2.0
"""All programs whose verdicts are known."""

from held_out import HELD_OUT
from leaks import LEAKS, STAY_FLAT
from look_alikes import LARGER_LEAKS, LOOK_ALIKES
from second_short_runs import SECOND_SHORT_RUNS
from short_runs import SHORT_RUNS

CORPUS = [*LEAKS, *LARGER_LEAKS, *STAY_FLAT, *LOOK_ALIKES]

__all__ = ["CORPUS", "HELD_OUT", "SECOND_SHORT_RUNS", "SHORT_RUNS"]
