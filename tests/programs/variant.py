# SPDX-License-Identifier: Apache-2.0
"""Flags of the programs here beside those that batches.options knows."""

import sys


def flag(name: str) -> bool:
    """Whether the command line has it; it is then taken off."""
    if name not in sys.argv:
        return False
    sys.argv.remove(name)
    return True
