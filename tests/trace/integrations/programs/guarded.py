# SPDX-License-Identifier: Apache-2.0
"""Uses an integration where the named packages are not to be had."""

import importlib
import sys


class Absent:
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent(sys.argv[2].split(",")))
try:
    module, _, function = sys.argv[1].partition(":")
    loaded = importlib.import_module(f"memtrace.integrations.{module}")
    if function:
        getattr(loaded, function)()
except ImportError as error:
    print(error)
