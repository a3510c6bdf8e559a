# SPDX-License-Identifier: Apache-2.0
"""Prints the outcome of the check, and the frames of one capture three calls deep."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from probe import Probe  # noqa: E402


def leaf(probe):
    return probe.capture()


def middle(probe):
    return leaf(probe)


def main():
    probe = Probe(sys.argv[1])
    status = probe.wait_until_checked()
    print(json.dumps({"status": status, "frames": probe.frames(middle(probe))}))


main()
