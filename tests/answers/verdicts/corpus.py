# SPDX-License-Identifier: Apache-2.0
"""All programs whose verdicts are known."""

from eighth_short_runs_a import EIGHTH_SHORT_RUNS_A
from eighth_short_runs_b import EIGHTH_SHORT_RUNS_B
from eleventh_short_runs_a import ELEVENTH_SHORT_RUNS_A
from eleventh_short_runs_b import ELEVENTH_SHORT_RUNS_B
from fifth_short_runs_a import FIFTH_SHORT_RUNS_A
from fifth_short_runs_b import FIFTH_SHORT_RUNS_B
from fourth_short_runs_a import FOURTH_SHORT_RUNS_A
from fourth_short_runs_b import FOURTH_SHORT_RUNS_B
from held_out import HELD_OUT
from leaks import LEAKS, STAY_FLAT
from look_alikes import LARGER_LEAKS, LOOK_ALIKES
from ninth_short_runs_a import NINTH_SHORT_RUNS_A
from ninth_short_runs_b import NINTH_SHORT_RUNS_B
from second_short_runs import SECOND_SHORT_RUNS
from seventh_short_runs_a import SEVENTH_SHORT_RUNS_A
from seventh_short_runs_b import SEVENTH_SHORT_RUNS_B
from short_runs import SHORT_RUNS
from sixth_short_runs_a import SIXTH_SHORT_RUNS_A
from sixth_short_runs_b import SIXTH_SHORT_RUNS_B
from tenth_short_runs_a import TENTH_SHORT_RUNS_A
from tenth_short_runs_b import TENTH_SHORT_RUNS_B
from third_short_runs_a import THIRD_SHORT_RUNS_A
from third_short_runs_b import THIRD_SHORT_RUNS_B
from twelfth_short_runs_a import TWELFTH_SHORT_RUNS_A
from twelfth_short_runs_b import TWELFTH_SHORT_RUNS_B

CORPUS = [*LEAKS, *LARGER_LEAKS, *STAY_FLAT, *LOOK_ALIKES]
THIRD_SHORT_RUNS = [*THIRD_SHORT_RUNS_A, *THIRD_SHORT_RUNS_B]
FOURTH_SHORT_RUNS = [*FOURTH_SHORT_RUNS_A, *FOURTH_SHORT_RUNS_B]
FIFTH_SHORT_RUNS = [*FIFTH_SHORT_RUNS_A, *FIFTH_SHORT_RUNS_B]
SIXTH_SHORT_RUNS = [*SIXTH_SHORT_RUNS_A, *SIXTH_SHORT_RUNS_B]
SEVENTH_SHORT_RUNS = [*SEVENTH_SHORT_RUNS_A, *SEVENTH_SHORT_RUNS_B]
EIGHTH_SHORT_RUNS = [*EIGHTH_SHORT_RUNS_A, *EIGHTH_SHORT_RUNS_B]
NINTH_SHORT_RUNS = [*NINTH_SHORT_RUNS_A, *NINTH_SHORT_RUNS_B]
TENTH_SHORT_RUNS = [*TENTH_SHORT_RUNS_A, *TENTH_SHORT_RUNS_B]
ELEVENTH_SHORT_RUNS = [*ELEVENTH_SHORT_RUNS_A, *ELEVENTH_SHORT_RUNS_B]
TWELFTH_SHORT_RUNS = [*TWELFTH_SHORT_RUNS_A, *TWELFTH_SHORT_RUNS_B]
# By the beginning of their programs' names.
SETS_OF_SHORT_RUNS = {"short": SHORT_RUNS, "second": SECOND_SHORT_RUNS, "third": THIRD_SHORT_RUNS,
                      "fourth": FOURTH_SHORT_RUNS, "fifth": FIFTH_SHORT_RUNS, "sixth": SIXTH_SHORT_RUNS,
                      "seventh": SEVENTH_SHORT_RUNS, "eighth": EIGHTH_SHORT_RUNS, "ninth": NINTH_SHORT_RUNS,
                      "tenth": TENTH_SHORT_RUNS, "eleventh": ELEVENTH_SHORT_RUNS, "twelfth": TWELFTH_SHORT_RUNS}

__all__ = ["CORPUS", "HELD_OUT", "SETS_OF_SHORT_RUNS"]
