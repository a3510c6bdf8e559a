# SPDX-License-Identifier: Apache-2.0
"""Whether objects of this interpreter are where a census reads them: as it is, and with each of the
offsets that depend on the version wrong by some bytes, as JSON."""
import json
import sys

sys.path.insert(0, __file__.rpartition("/")[0])
from probe import Probe  # noqa: E402


def main():
    probe = Probe(sys.argv[1])
    wrong = []
    try:
        while True:
            wrong.append([probe.check_objects(len(wrong), by) for by in (8, -8, 16)])
    except LookupError:
        pass
    json.dump({"as it is": probe.check_objects(), "wrong": wrong}, sys.stdout)


main()
