# SPDX-License-Identifier: Apache-2.0
"""What memtrace saw, in the tools that people have open: a module each, imported by who wants it."""
