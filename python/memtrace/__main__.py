# SPDX-License-Identifier: Apache-2.0
"""python -m memtrace: the command, where pip's folder of scripts is not on the PATH."""

from memtrace._command import main

main()
