# SPDX-License-Identifier: Apache-2.0
"""Runs some tests of one foreign module in this process, and writes a line of JSON for each that
begins and each that ends; so whoever reads it knows which test a crash or a hang belongs to.

driver.py MODULE --out FILE [--path DIR…] [--ids FILE] [--cuda] [--list]

--cuda  The module knows nothing of CUDA: PyTorch is imported first, and memory of the GPU is
        allocated and freed before each test, so that there is something to record throughout.
"""

import argparse
import importlib
import json
import os
import sys
import unittest


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("--out", required=True)
    parser.add_argument("--path", nargs="*", default=[])
    parser.add_argument("--ids")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


class Words:
    """Lines for the runner. Forked children of a test have the descriptor, but write nothing."""

    def __init__(self, path: str):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.process = os.getpid()

    def say(self, **what) -> None:
        if os.getpid() == self.process:
            os.write(self.file, (json.dumps(what) + "\n").encode())


class Gpu:
    """Something to record: memory that stays, and some that comes and goes with every test."""

    def __init__(self):
        import torch

        self.torch = torch
        layer = torch.nn.Linear(256, 256).cuda()
        self.kept = [layer, torch.optim.SGD(layer.parameters(), lr=0.1)]
        self.step()

    def step(self) -> None:
        layer, optimizer = self.kept
        layer(self.torch.ones(16, 256, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    def counters(self) -> dict:
        stats = self.torch.cuda.memory_stats()
        return {"allocated": stats["allocation.all.allocated"], "freed": stats["allocation.all.freed"]}


class Outcomes(unittest.TestResult):
    """How each test ended, with the type of what it raised."""

    def __init__(self, words: Words, gpu: "Gpu | None"):
        super().__init__()
        self.words, self.gpu, self.ended = words, gpu, {}

    def startTest(self, test):
        super().startTest(test)
        if self.gpu:
            self.gpu.step()
        self.ended.pop(test.id(), None)
        self.words.say(begins=test.id())

    def stopTest(self, test):
        super().stopTest(test)
        self.words.say(ends=test.id(), how=self.ended.get(test.id(), "unknown"))

    def note(self, test, how: str) -> None:
        if isinstance(test, unittest.TestCase):
            self.ended.setdefault(test.id(), how)
        else:  # setUpClass or setUpModule, which begin and end unannounced
            self.words.say(ends=test.id(), how=how)

    def addSuccess(self, test):
        self.note(test, "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, f"failed: {err[0].__name__}")

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, f"failed: {err[0].__name__}")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, f"failed: {err[0].__name__}")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.note(test, "failed as expected")

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "passed unexpectedly")


def tests_of(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from tests_of(one)
        else:
            yield one


def chosen_of(suite, wanted: set[str]):
    """The same suites with fewer tests: their order, and their set-ups of classes, stay."""
    kept = [chosen_of(one, wanted) if isinstance(one, unittest.TestSuite) else one
            for one in suite if isinstance(one, unittest.TestSuite) or one.id() in wanted]
    return type(suite)(kept)


def main() -> None:
    asked = arguments()
    sys.argv = [sys.argv[0]]  # some modules read it
    words = Words(asked.out)
    gpu = Gpu() if asked.cuda and not asked.list else None
    sys.path[:0] = asked.path
    if asked.cuda:
        from test import support

        support.use_resources = []  # as CPython's own runner, unless told
    module = importlib.import_module(asked.module)
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromModule(module)
    if loader.errors:
        raise SystemExit("\n".join(loader.errors))
    if asked.list:
        words.say(tests=list(dict.fromkeys(test.id() for test in tests_of(suite))))
        return
    if asked.ids:
        with open(asked.ids) as file:
            suite = chosen_of(suite, set(file.read().splitlines()))
    suite.run(Outcomes(words, gpu))
    words.say(over=True, process=os.getpid(), **(gpu.counters() if gpu else {}))


if __name__ == "__main__":
    main()
