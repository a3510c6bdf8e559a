# SPDX-License-Identifier: Apache-2.0
"""Brings memtrace's findings into tools that people have open: a module each, imported by who wants it."""
