# SPDX-License-Identifier: Apache-2.0
"""All programs whose best remedies are known."""

from healthy import HEALTHY
from held_out_remedies import HELD_OUT
from remedies import REMEDIES

CORPUS = [*REMEDIES, *HEALTHY]

__all__ = ["CORPUS", "HEALTHY", "HELD_OUT", "REMEDIES"]
