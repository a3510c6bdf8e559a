# SPDX-License-Identifier: Apache-2.0
"""All programs whose verdicts are known."""

from leaks import LEAKS, STAY_FLAT

CORPUS = [*LEAKS, *STAY_FLAT]
