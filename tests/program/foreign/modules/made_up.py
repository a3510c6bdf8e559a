# SPDX-License-Identifier: Apache-2.0
"""Tests that end in every way there is; two of them look at whether libmemtrace.so is there."""

import itertools
import os
import signal
import time
import unittest
from pathlib import Path

TRACED = "libmemtrace.so" in Path("/proc/self/maps").read_text()


class Ends(unittest.TestCase):
    def test_passes(self):
        self.assertTrue(os.getpid())

    def test_fails(self):
        self.fail("always")

    def test_raises(self):
        raise KeyError("always")

    def test_skips(self):
        self.skipTest("always")

    @unittest.expectedFailure
    def test_fails_as_expected(self):
        self.fail("always")

    def test_sub_test_fails(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertNotEqual(number, 1)

    def test_dies(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def test_hangs(self):
        time.sleep(3600)

    def test_passes_at_last(self):
        self.assertTrue(os.getpid())


class NoSetUp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("always")

    def test_is_not_reached(self):
        self.assertTrue(os.getpid())


class LooksForUs(unittest.TestCase):
    def test_is_not_watched(self):
        self.assertFalse(TRACED)

    def test_is_unsteady(self):
        """The first time it ends as nobody expects, and after that as every time."""
        file = Path(os.environ["MADE_UP_STATE"])
        number = next(n for n in itertools.count() if not (file / f"{n}-{TRACED}").exists())
        (file / f"{number}-{TRACED}").touch()
        self.assertEqual(TRACED, bool(number % 2))
