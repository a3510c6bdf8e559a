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
    frames = probe.frames(middle(probe))
    print(json.dumps({"status": status, "frames": frames, "more_news": probe.news(),
                      "warning": bool(probe.holding.probe_news_is_warning())}))


main()
