# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: limits of GPU memory on tests, tests as phases of the report, a summary.

    memtrace run -- pytest                        # or, without a GPU: memtrace dry-run -- pytest

    @pytest.mark.limit_gpu_memory("2 GiB")        # the peak of what the test allocates
    @pytest.mark.limit_gpu_leaks("1 MiB")         # what it leaves behind

Where memtrace does not record, tests run as ever, and limits are not checked.
"""

from __future__ import annotations

import gc
import os

import pytest

import memtrace
from memtrace import _pytest_limits as limits
from memtrace import _pytest_summary as summary
from memtrace import _watch

START = "`memtrace run -- pytest`, or on a simulated GPU `memtrace dry-run -- pytest`"


def pytest_addoption(parser):
    group = parser.getgroup("memtrace", "GPU memory of tests")
    group.addoption("--memtrace", action="store_true",
                    help="refuse to start where memtrace does not record, so that no limit goes unchecked")
    group.addoption("--memtrace-top", type=int, default=5, metavar="N",
                    help="how many tests the summary of GPU memory names (5); 0: no summary")
    parser.addini(limits.INI, "limit_gpu_memory of each test that has no such marker, as 2 GiB", default="")


def pytest_configure(config):
    config.addinivalue_line(
        "markers", f'{limits.MEMORY}(limit, tolerance=None): the test fails where the peak of the GPU memory that '
                   'it allocates is higher, as limit_gpu_memory("2 GiB", tolerance="2%")')
    config.addinivalue_line(
        "markers", f"{limits.LEAKS}(limit): the test fails where more of the GPU memory that it allocates is "
                   'still there when it ends, as limit_gpu_leaks("1 MiB")')
    if config.getoption("memtrace") and not _watch.is_there():
        raise pytest.UsageError(f"--memtrace: memtrace does not record this process; start with {START}.")
    try:
        default = limits.of_ini(config.getini(limits.INI))
    except limits.WrongLimit as wrong:
        raise pytest.UsageError(str(wrong)) from None
    config.pluginmanager.register(MemoryOfTests(config, default), "memtrace-session")


class MemoryOfTests:
    def __init__(self, config, default):
        self.config = config
        self.default = default
        self.used = {}  # of the test that runs, by node id
        self.seen = summary.Seen()

    def limit_of(self, item, name):
        mark = item.get_closest_marker(name)
        if mark is not None:
            return limits.of_marker(mark)
        return self.default if name == limits.MEMORY else None

    def has_limit(self, item) -> bool:
        try:
            return any(self.limit_of(item, name) for name in (limits.MEMORY, limits.LEAKS))
        except limits.WrongLimit:
            return False

    def pytest_runtest_setup(self, item):
        wrong = None
        try:
            for name in (limits.MEMORY, limits.LEAKS):
                self.limit_of(item, name)
        except limits.WrongLimit as error:
            wrong = str(error)
        if wrong:
            pytest.fail(wrong, pytrace=False)

    @pytest.hookimpl(hookwrapper=True, trylast=True)  # around the test itself, and nothing else
    def pytest_runtest_call(self, item):
        if not _watch.is_there():
            yield
            return
        pid = os.getpid()
        with memtrace.phase(item.nodeid):
            is_watching = _watch.begin()
            outcome = yield
        # A process that the test forked goes on here too, and has no watch.
        if not is_watching or os.getpid() != pid:
            return
        try:
            # unittest keeps failures and skips for itself.
            has_ended_well = outcome.excinfo is None and not getattr(item, "_excinfo", None)
            broken = self.judge(item, has_ended_well)
        except limits.WrongLimit as wrong:  # of a marker that a fixture added
            broken = [str(wrong)] if has_ended_well else []
        finally:
            _watch.end()
        if broken:
            outcome.force_exception(pytest.fail.Exception("\n".join(broken), pytrace=False))

    def judge(self, item, has_ended_well) -> list:
        """Notes what the test used; the sentences on limits that it broke."""
        devices = _watch.read()
        if devices is None:
            if self.has_limit(item):
                item.warn(pytest.PytestWarning("memtrace: no memory was left to check this test's limits."))
            return []
        broken = []
        memory, leaks = self.limit_of(item, limits.MEMORY), self.limit_of(item, limits.LEAKS)
        if has_ended_well and memory is not None:
            broken.append(limits.broken_peak(memory, [peak for peak, _ in devices]))
        if has_ended_well and leaks is not None:
            if limits.broken_leaks(leaks, [left for _, left in devices]):
                gc.collect()
                devices = _watch.read() or devices
            broken.append(limits.broken_leaks(leaks, [left for _, left in devices]))
        broken = [sentence for sentence in broken if sentence]
        self.used[item.nodeid] = {
            "peak": max((peak for peak, _ in devices), default=0),
            # The traceback of a failed test keeps its variables.
            "left": max((left for _, left in devices), default=0) if has_ended_well else None,
            "broken": bool(broken),
        }
        return broken

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        made = yield
        report = made.get_result()
        # A plain dictionary: xdist sends it from its workers with the report.
        if report.when == "setup":
            report.memtrace = {"limited": self.has_limit(item), "checked": _watch.is_there()}
        elif report.when == "call" and item.nodeid in self.used:
            report.memtrace = self.used.pop(item.nodeid)

    def pytest_runtest_logreport(self, report):
        self.seen.report(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if not self.is_summary_wanted():
            return
        lines = summary.lines_of(self.seen.top(self.config.getoption("memtrace_top")), str(self.config.rootpath))
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["memtrace"] = lines
        else:
            self.seen.lines.update(lines)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):
        self.seen.lines.update(getattr(node, "workeroutput", {}).get("memtrace", {}))

    def is_summary_wanted(self) -> bool:
        return self.config.getoption("memtrace_top") > 0 and self.config.getoption("verbose") > -2

    def pytest_terminal_summary(self, terminalreporter):
        top = self.seen.top(self.config.getoption("memtrace_top"))
        if top and self.is_summary_wanted():
            terminalreporter.section("GPU memory that tests allocated, by peak")
            for line in summary.table(top, self.seen):
                terminalreporter.write_line(line)
        sentence = self.seen.what_was_not_checked(START)
        if sentence:
            terminalreporter.write_line(sentence)
