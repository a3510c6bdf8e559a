# SPDX-License-Identifier: Apache-2.0
"""`python -m pytest`, which cannot be forked from a warm interpreter, as a program: sys.path begins with the working
directory, and this file is in no frame of a test."""

import os
import runpy
import sys

sys.path[0] = os.getcwd()
runpy.run_module("pytest", run_name="__main__", alter_sys=True)
